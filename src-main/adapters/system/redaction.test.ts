import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedactor } from './redaction.ts'

// Put together here, so that no scanner takes this file for a leak.
const looking = [
  `sk-${'a1B2c3D4'.repeat(3)}`, `sk-ant-api03-${'x9'.repeat(20)}`, `ghp_${'a1'.repeat(18)}`, `github_pat_${'a1'.repeat(20)}`, `glpat-${'a1'.repeat(10)}`, `xoxb-${'12'.repeat(8)}`, `AKIA${'ABCD'.repeat(4)}`,
  `AIza${'a1'.repeat(18)}`, `hf_${'ab'.repeat(15)}`, `npm_${'ab'.repeat(18)}`, `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${'aB3'.repeat(5)}`,
  ['-----BEGIN OPENSSH', 'PRIVATE KEY-----\nabc\ndef\n-----END OPENSSH PRIVATE KEY-----'].join(' '), ['-----BEGIN', 'PRIVATE KEY-----\ncut short'].join(' '),
]

describe('redaction', () => {
  it.each(looking.map((key) => ({ name: key.slice(0, 12), key })))('takes out what looks like a key: $name…', ({ key }) => {
    const redacted = createRedactor(() => [])(`export KEY="${key}" # note`)
    expect(redacted).not.toContain(key)
    expect(redacted).not.toContain(key.slice(-12))
    expect(redacted).toContain('[redacted]')
  })

  it('keeps what follows a key', () => {
    expect(createRedactor(() => [])(`Authorization: Bearer ${'a1b2'.repeat(8)}\nHost: x`)).toBe('Authorization: Bearer [redacted]\nHost: x')
  })

  it('leaves ordinary text, ids, digests and code alone', () => {
    const texts = ['task-0123456789abcdefghij', 'disk-usage-2024-report-tool', 'sk-learn-extra-packages-list', `sha256:${'0a'.repeat(32)}`, 'const bearer = makeBearer(request)', 'git commit 8420b40', 'msg_01HX0000000000000000000000', 'eyJ is a prefix']
    for (const text of texts) expect(createRedactor(() => [])(text)).toBe(text)
  })

  it('takes out known secrets wherever and however they are written', () => {
    const secret = 'p@ss "word"/ü'
    const redact = createRedactor(() => [secret, 'short', `${secret}-longer`])
    expect(redact(`a ${secret} b ${encodeURIComponent(secret)} c ${JSON.stringify(secret)} d ${secret}-longer`)).toBe('a [redacted] b [redacted] c "[redacted]" d [redacted]')
    expect(redact('short words stay')).toBe('short words stay')
  })

  it('knows the secrets of now', () => {
    const known: string[] = []
    const redact = createRedactor(() => known)
    expect(redact('hunter2-hunter2')).toBe('hunter2-hunter2')
    known.push('hunter2-hunter2')
    expect(redact('hunter2-hunter2')).toBe('[redacted]')
  })

  it('leaves no known secret in any text', () => {
    fc.assert(fc.property(fc.array(fc.string({ minLength: 8, maxLength: 20 }), { minLength: 1, maxLength: 3 }), fc.array(fc.string(), { maxLength: 4 }), (secrets, between) => {
      const text = between.map((part, index) => part + (secrets[index % secrets.length] ?? '')).join('')
      const redacted = createRedactor(() => secrets)(text)
      for (const secret of secrets) if (!'[redacted]'.includes(secret)) expect(redacted.split('[redacted]').some((part) => part.includes(secret))).toBe(false)
    }))
  })
})
