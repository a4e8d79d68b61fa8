import { describe, expect, test } from 'vitest'
import type { ApprovalId, Digest, Millis, TaskId, TurnId, CallId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { checkDecision, holdDigest, makeHold, refuseConcealed, type Hold, type HoldRecord } from './hold.ts'

const taskId = 'task_1' as TaskId
const content: Omit<Hold, 'digest' | 'approvalId'> = {
  kind: 'command', bot: 'coder', generation: 3, turnId: 'turn_1' as TurnId, callId: 'call_1' as CallId, subject: { for: 'command', askId: 'ask_1', command: { text: 'bun test', cwd: '/workspace' } },
  title: 'Run a command', exact: { label: 'Command', text: 'bun test', authoredBy: 'coder' }, facts: [{ label: 'Directory', value: '/workspace', exact: true, authoredBy: 'host' }], isolation: 'bubblewrap', reaskReason: null,
}
const hold = makeHold(taskId, 'apr_1' as ApprovalId, content)
const shownAt = 10_000 as Millis
const record: HoldRecord = { hold, openedAt: 1, order: 1, shownAt, alarm: false, outcome: 'waiting' }
const later = (shownAt + limits.humanDecisionMs)

test('a hold carries the digest of its own content', () => {
  expect(hold).toEqual({ ...content, approvalId: 'apr_1', digest: holdDigest(taskId, content) })
})

describe('another digest belongs to', () => {
  const changes: Readonly<Record<string, Partial<Hold>>> = {
    'another kind': { kind: 'edit' }, 'another bot': { bot: 'lead' }, 'another generation': { generation: 4 }, 'another turn': { turnId: 'turn_2' as TurnId }, 'no turn': { turnId: null }, 'another call': { callId: 'call_2' as CallId }, 'no call': { callId: null },
    'another ask': { subject: { for: 'command', askId: 'ask_2', command: { text: 'bun test', cwd: '/workspace' } } }, 'another command': { subject: { for: 'command', askId: 'ask_1', command: { text: 'bun test ', cwd: '/workspace' } } },
    'another directory': { subject: { for: 'command', askId: 'ask_1', command: { text: 'bun test', cwd: '/workspace/x' } } }, 'another exact text': { exact: { ...content.exact, text: 'bun  test' } }, 'another author': { exact: { ...content.exact, authoredBy: 'host' } },
    'other facts': { facts: [] }, 'another isolation': { isolation: 'none' }, 'a change of its own': { change: `sha256:${'1'.repeat(64)}` as Digest },
  }
  test.each(Object.entries(changes))('%s', (_what, change) => { expect(holdDigest(taskId, { ...content, ...change })).not.toBe(hold.digest) })
  test('another task', () => { expect(holdDigest('task_2' as TaskId, content)).not.toBe(hold.digest) })
})

describe('a decision', () => {
  test('settles what waits, of its digest and generation, once somebody could have read it', () => { expect(checkDecision(record, hold.digest, hold.generation, later)).toEqual({ ok: true, value: hold }) })

  test.each<[string, HoldRecord | undefined, Digest, number, number, string, RegExp, string]>([
    ['on what is not known', undefined, hold.digest, 3, later, 'unknown-approval', /not known/, 'Look at the Approvals tray for what waits now.'],
    ['on what was approved before', { ...record, outcome: 'approved' }, hold.digest, 3, later, 'already-decided', /was approved before/, 'Nothing more happened. Look at the room for its outcome.'],
    ['on what was withdrawn', { ...record, outcome: 'withdrawn' }, hold.digest, 3, later, 'already-decided', /was withdrawn before/, 'Nothing more happened. Look at the room for its outcome.'],
    ['with another digest', record, 'sha256:0' as Digest, 3, later, 'digest-mismatch', /not what waits now/, 'Look at the card again and decide on what it shows now.'],
    ['after the task was stopped', record, hold.digest, 4, later, 'stale-approval', /was stopped after/, 'Nothing more happened.'],
    ['on what nobody has seen', { ...record, shownAt: null }, hold.digest, 3, later, 'not-shown', /not shown/, 'Look at the card, then decide. It still waits.'],
    ['faster than a person reads', record, hold.digest, 3, later - 1, 'too-fast', /faster than a person/, 'Look at the card, then decide. It still waits.'],
    ['at the very moment of showing', record, hold.digest, 3, shownAt, 'too-fast', /faster than a person/, 'Look at the card, then decide. It still waits.'],
  ])('%s is refused, with the reason and what to do', (_how, of, digest, generation, now, code, message, todo) => {
    expect(checkDecision(of, digest, generation, now)).toEqual({ ok: false, error: { code, message: expect.stringMatching(message) as string, todo } })
  })

  test('before its showing, by a clock that was set back, counts by its receipt', () => { expect(checkDecision(record, hold.digest, hold.generation, (shownAt - 1)).ok).toBe(true) })
})

describe('a card that came back from the journal', () => {
  test('can be approved when it is what its digest was made of', () => { expect(refuseConcealed(taskId, hold)).toEqual({ ok: true, value: null }) })

  test.each<[string, Partial<Hold>]>([
    ['its text', { exact: { ...content.exact, text: 'bun [redacted]' } }], ['its command', { subject: { for: 'command', askId: 'ask_1', command: { text: 'bun [redacted]', cwd: '/workspace' } } }], ['a fact', { facts: [{ label: 'Directory', value: '[redacted]', exact: true, authoredBy: 'host' }] }],
  ])('can be denied only, and says why and what to do, where %s holds the mark of a key', (_what, change) => {
    expect(refuseConcealed(taskId, { ...hold, ...change })).toEqual({ ok: false, error: { code: 'digest-mismatch', message: expect.stringMatching(/cannot show what it asks for/) as string, todo: 'Deny it, and have it asked again without the key.' } })
  })
})
