import { describe, expect, it } from 'vitest'
import { failure } from '../../../src-preload/contract/failure.ts'
import type { CallId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import type { HoldKind } from '../../../src-preload/contract/rows.ts'
import type { TaskCommand } from '../task/commands.ts'
import { waitingHolds } from '../task/model.ts'
import { aTask, playTask, playToResult, playToWork, remoteTarget, say, type Played } from '../task/played.suite.ts'

const edit: TaskCommand = { is: 'permission-asked', permissionId: 'per_1', callId: 'call_1' as CallId, permission: 'edit', patterns: [], command: null, files: [{ path: '/workspace/a.ts', real: '/workspace/a.ts' }], diff: '-a\n+b\n', isolation: 'bubblewrap', edit: { tool: 'write', input: { filePath: '/workspace/a.ts', content: 'b' }, bases: [] } }
const tooLarge: TaskCommand = { is: 'call-wanted', bot: 'coder', model: 'demo', bodyBytes: 200, price: null, outputTokensMax: 5_000 }

/** A task in which exactly one hold waits, of each kind and layer. */
const waiting: readonly (readonly [name: string, kind: HoldKind, play: () => Played])[] = [
  ['a brief', 'brief', () => playTask().play(say.prepared, say.brief)],
  ['a provider', 'provider', () => playTask(say.open({ lead: remoteTarget })).play(say.prepared)],
  ['a command that the runtime asks for', 'command', () => playToWork().play(say.bash('per_1', 'make'))],
  ['a command at the broker', 'command', () => playToWork().play({ is: 'command-asked', askId: 'ask_1', text: 'make', cwd: '/workspace', isolation: 'bubblewrap' })],
  ['an edit', 'edit', () => playToWork(say.open({ task: { grant: { ...aTask.grant, edits: 'ask' } } })).play(edit)],
  ['a top-up', 'budget', () => playToWork(say.open({ task: { budget: { ...aTask.budget, tokensMax: 1_000 } } })).play(tooLarge)],
  ['the acceptance of a result', 'acceptance', () => playToResult()],
]

describe.each(waiting)('the owner\'s word on %s', (_name, kind, play) => {
  const here = (): { task: Played; decide: (verdict: 'approved' | 'denied') => ReturnType<Played['give']>; shown: TaskCommand } => {
    const task = play()
    const [record, ...others] = waitingHolds(task.state)
    if (record === undefined || others.length > 0) throw new Error('exactly one hold must wait')
    expect(record.hold.kind).toBe(kind)
    const { approvalId, digest } = record.hold
    return { task, decide: (verdict) => task.give({ is: 'decide-hold', approvalId, digest, verdict, reason: null }), shown: { is: 'hold-shown', approvalId, digest } }
  }

  it.each(['approved', 'denied'] as const)('is refused before the card was shown, and uses nothing up: %s', (verdict) => {
    const { task, decide } = here()
    const before = task.state
    expect(decide(verdict)).toMatchObject({ ok: false, error: { code: 'not-shown' } })
    expect([task.state, task.effects]).toEqual([before, []])
  })

  it.each(['approved', 'denied'] as const)('is refused faster than a person, and taken after that: %s', (verdict) => {
    const { task, decide, shown } = here()
    task.play(shown)
    const before = task.state
    task.now += limits.humanDecisionMs - 1
    expect(decide(verdict)).toMatchObject({ ok: false, error: { code: 'too-fast' } })
    expect([task.state, task.effects]).toEqual([before, []])
    task.now += 1
    expect(decide(verdict).ok).toBe(true)
    expect(waitingHolds(task.state)).toEqual([])
  })
})

describe('the receipt of a card', () => {
  it('counts by the first time that it was shown', () => {
    const task = playTask().play(say.prepared, say.brief)
    const { approvalId, digest } = waitingHolds(task.state)[0]!.hold
    task.play({ is: 'hold-shown', approvalId, digest })
    task.now += limits.humanDecisionMs
    task.play({ is: 'hold-shown', approvalId, digest })
    expect(task.give({ is: 'decide-hold', approvalId, digest, verdict: 'approved', reason: null }).ok).toBe(true)
  })

  it('does not hold the owner up when the clock was set back', () => {
    const task = playTask().play(say.prepared, say.brief)
    const { approvalId, digest } = waitingHolds(task.state)[0]!.hold
    task.play({ is: 'hold-shown', approvalId, digest })
    task.now -= 1
    expect(task.give({ is: 'decide-hold', approvalId, digest, verdict: 'approved', reason: null }).ok).toBe(true)
  })

  it('is refused for other bytes than those that wait', () => {
    const task = playTask().play(say.prepared, say.brief)
    const { approvalId } = waitingHolds(task.state)[0]!.hold
    expect(task.give({ is: 'hold-shown', approvalId, digest: `sha256:${'0'.repeat(64)}` as never })).toEqual({ ok: false, error: failure('digest-mismatch', 'What is on screen is not what waits.', 'The card is drawn anew. Nothing happened.') })
  })
})
