import { describe, expect, test } from 'vitest'
import { createRefusedCommands } from './refused-commands.ts'
import { createReplyLedger } from './reply-ledger.ts'

const ask = { sessionId: 's', callId: 'c', command: 'ls', cwd: null }

describe('the ledger of permission answers', () => {
  test('takes a session’s other answers for ours after our “reject”, and no other session’s', () => {
    const ledger = createReplyLedger()
    ledger.asked('per_1', ask)
    ledger.asked('per_2', ask)
    ledger.asked('per_3', { ...ask, sessionId: 'other' })
    expect(ledger.othersOpen('per_1')).toBe(true)
    expect(ledger.othersOpen('per_3')).toBe(false)
    ledger.sending('per_1', 'reject')
    expect([ledger.seen('per_2', 'reject'), ledger.seen('per_3', 'reject')]).toEqual([false, true])
    expect(ledger.open('per_1')).toBeNull()
  })

  test('calls an answer foreign that was not sent, that differs from what was sent, or that comes again', () => {
    const ledger = createReplyLedger()
    expect(ledger.seen('per_1', 'once')).toBe(true)
    ledger.sending('per_2', 'reject')
    expect(ledger.seen('per_2', 'once')).toBe(true)
    ledger.sending('per_3', 'once')
    expect(ledger.seen('per_3', 'once')).toBe(false)
    expect(ledger.seen('per_3', 'once')).toBe(true)
    ledger.sending('per_4', 'once')
    expect(ledger.seen('per_4', 'always')).toBe(true)
  })

  test('finds the foreign answer out that was taken for ours', () => {
    const ledger = createReplyLedger()
    ledger.sending('per_1', 'once')
    ledger.seen('per_1', 'once')
    expect(ledger.refused('per_1')).toBe(true)
    ledger.sending('per_2', 'once')
    expect(ledger.refused('per_2')).toBe(false)
    ledger.sending('per_3', 'once')
    ledger.taken('per_3')
    ledger.seen('per_3', 'once')
    expect(ledger.refused('per_3')).toBe(false)
  })
})

describe('a refused command', () => {
  test('is refused once, for exactly its text and folder', () => {
    const refused = createRefusedCommands()
    refused.expect({ text: 'ls', cwd: '/workspace', callId: 'c' }, 'not now')
    expect(refused.take({ text: 'ls ', cwd: '/workspace' })).toBeNull()
    expect(refused.take({ text: 'ls', cwd: '/workspace/src' })).toBeNull()
    expect(refused.take({ text: 'ls', cwd: '/workspace' })).toBe('not now')
    expect(refused.take({ text: 'ls', cwd: '/workspace' })).toBeNull()
  })
})
