import { describe, expect, it } from 'vitest'
import { providerSchema, type Provider } from '../../../src-preload/contract/settings.ts'
import { idFrom, providerDraft, providerOf, providerProblems } from './provider-draft.ts'

const priced: Provider = { id: 'ex', label: 'Ex', baseUrl: 'https://api.example.com/v1', api: 'responses', models: [{ id: 'a', contextTokens: 8_000, price: { inputMicroUsd: 1, outputMicroUsd: 2, asOf: '2026-11-01' } }, { id: 'b' }] }

describe('a provider that is being edited', () => {
  it('becomes what main accepts', () => {
    const draft = { ...providerDraft(null), id: 'lab', label: ' Lab ', baseUrl: ' http://127.0.0.1:8080/v1 ', models: 'x\n\n x \ny', keyEnv: 'LAB_KEY' }
    expect(providerProblems(draft, [])).toEqual({})
    expect(providerSchema.parse(providerOf(draft))).toEqual({ id: 'lab', label: 'Lab', baseUrl: 'http://127.0.0.1:8080/v1', api: 'chat', models: [{ id: 'x' }, { id: 'y' }], keyEnv: 'LAB_KEY' })
  })

  it('keeps prices and limits that the form does not show', () => {
    expect(providerOf({ ...providerDraft(priced), models: 'a\nc' }).models).toEqual([priced.models[0], { id: 'c' }])
  })

  it('refuses what is no http address, no id, no model, or an id that is taken', () => {
    const taken = [{ provider: priced, origin: 'settings' as const, key: 'stored' as const, remote: true }]
    expect(Object.keys(providerProblems({ ...providerDraft(null), id: 'ex', label: 'x', baseUrl: 'file:///etc/passwd' }, taken)).sort()).toEqual(['baseUrl', 'id', 'models'])
    expect(providerProblems(providerDraft(priced), taken)).toEqual({})
  })

  it('makes an id of any label', () => {
    expect(idFrom('Größe & Co. (EU)')).toBe('gro-e-co-eu')
    expect(idFrom('日本')).toBe('')
  })
})
