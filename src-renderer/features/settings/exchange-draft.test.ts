import { describe, expect, it } from 'vitest'
import { exchangeSchema, type CredentialExchange } from '../../../src-preload/contract/settings.ts'
import { exchangeDraft, exchangeOf, exchangeProblems } from './exchange-draft.ts'

const url = 'https://auth.example.com/token'
const every: readonly CredentialExchange[] = [
  { url, how: 'bearer', method: 'GET' }, { url, how: 'bearer', method: 'POST', scope: 'chat', audience: 'api', lifeSeconds: 900 },
  { url, how: 'client-credentials', clientId: 'cs', scope: 'chat' }, { url, how: 'token-exchange', audience: 'api' },
]

describe('an exchange of a key that is being edited', () => {
  it.each(every)('comes out as it went in: $how', (exchange) => {
    expect(exchangeProblems(exchangeDraft(exchange))).toEqual({})
    expect(exchangeSchema.parse(exchangeOf(exchangeDraft(exchange)))).toEqual(exchange)
  })

  it('is none where the key is used as it is, whatever was typed before', () => {
    expect(exchangeOf({ ...exchangeDraft(every[1]), how: 'as-it-is' })).toBeUndefined()
    expect(exchangeOf(exchangeDraft(undefined))).toBeUndefined()
  })

  it('keeps nothing that its kind does not have', () => {
    expect(exchangeOf({ ...exchangeDraft(every[2]), how: 'token-exchange', method: 'GET' })).toEqual({ url, how: 'token-exchange', scope: 'chat' })
  })

  it('names what is missing or wrong', () => {
    const problems = (change: object): string[] => Object.keys(exchangeProblems({ ...exchangeDraft({ url, how: 'client-credentials', clientId: 'cs' }), ...change })).sort()
    expect(problems({})).toEqual([])
    expect([problems({ url: 'auth.example.com' }), problems({ url: 'file:///etc/passwd' }), problems({ url: 'https:///x' }), problems({ clientId: ' ' }), problems({ life: '5' }), problems({ life: '1e3' })]).toEqual([['url'], ['url'], ['url'], ['clientId'], ['life'], ['life']])
    expect(problems({ how: 'as-it-is', url: '' })).toEqual([])
  })
})
