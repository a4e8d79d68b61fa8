import { describe, expect, it } from 'vitest'
import { providerSchema, type Provider } from '../../../src-preload/contract/settings.ts'
import { idFrom, priceProblems, providerDraft, providerOf, providerProblems } from './provider-draft.ts'

const priced: Provider = { id: 'ex', label: 'Ex', baseUrl: 'https://api.example.com/v1', api: 'responses', models: [{ id: 'a', contextTokens: 8_000, price: { inputMicroUsd: 1, outputMicroUsd: 2, asOf: '2026-11-01' } }, { id: 'b' }] }

describe('a provider that is being edited', () => {
  it('becomes what main accepts', () => {
    const draft = { ...providerDraft(null), id: 'lab', label: ' Lab ', baseUrl: ' http://127.0.0.1:8080/v1 ', models: 'x\n\n x \ny', keyEnv: 'LAB_KEY' }
    expect(providerProblems(draft, [])).toEqual({})
    expect(providerSchema.parse(providerOf(draft, '2026-12-01'))).toEqual({ id: 'lab', label: 'Lab', baseUrl: 'http://127.0.0.1:8080/v1', api: 'chat', models: [{ id: 'x' }, { id: 'y' }], keyEnv: 'LAB_KEY' })
  })

  it('keeps limits, an exchange, and prices that were not changed with the day on which they were read', () => {
    const exchanged: Provider = { ...priced, exchange: { url: 'https://auth.example.com/token', how: 'bearer' } }
    expect(providerOf({ ...providerDraft(exchanged), models: 'a\nc' }, '2026-12-01')).toMatchObject({ models: [priced.models[0], { id: 'c' }], exchange: exchanged.exchange })
  })

  it('takes prices as typed, dates those that changed, and drops those that were emptied', () => {
    const draft = { ...providerDraft(priced), prices: { a: { input: '3', output: '15.50', asOf: '2026-11-01' }, b: { input: '0,25', output: '1', asOf: '' } } }
    expect(priceProblems(draft)).toEqual({})
    expect(providerSchema.parse(providerOf(draft, '2026-12-01')).models.map(({ price }) => price)).toEqual([{ inputMicroUsd: 3_000_000, outputMicroUsd: 15_500_000, asOf: '2026-12-01' }, { inputMicroUsd: 250_000, outputMicroUsd: 1_000_000, asOf: '2026-12-01' }])
    expect(providerOf({ ...draft, prices: { a: { input: '3', output: '15.5', asOf: '2026-11-29' } } }, '2026-12-01').models[0]?.price?.asOf).toBe('2026-11-29')
    expect(providerOf({ ...draft, prices: {} }, '2026-12-01').models).toEqual([{ id: 'a', contextTokens: 8_000 }, { id: 'b' }])
  })

  it.each([['3', '', ''], ['', '3', ''], ['-1', '2', ''], ['free', 'free', ''], ['1e3', '2', ''], ['1', '2', 'yesterday'], ['1', '2', '2026-02-30']])('refuses %j and %j of the day %j as a price', (input, output, asOf) => {
    expect(Object.keys(priceProblems({ ...providerDraft(priced), prices: { b: { input, output, asOf } } }))).toEqual(['b'])
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
