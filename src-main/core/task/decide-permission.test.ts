import { describe, expect, it } from 'vitest'
import { failure, type FailureCode } from '../../../src-preload/contract/failure.ts'
import type { CallId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import type { TaskCommand } from './commands.ts'
import { brokenLaws } from './laws.ts'
import { waitingHolds } from './model.ts'
import { aTask, playToWork, say, type Played } from './played.suite.ts'

type Asked = Extract<TaskCommand, { is: 'permission-asked' }>
const ask = (change: Partial<Asked>): TaskCommand => ({ is: 'permission-asked', permissionId: 'per_1', callId: 'call_1' as CallId, permission: 'edit', patterns: [], command: null, files: [{ path: '/workspace/a.ts', real: '/workspace/a.ts' }], diff: '-a\n+b\n', isolation: 'bubblewrap', edit: { tool: 'write', input: { filePath: '/workspace/a.ts', content: 'b' }, bases: [] }, ...change })
const askingForEdits = (): Played => playToWork(say.open({ task: { grant: { ...aTask.grant, edits: 'ask' } } }))
const undelivered = (code: FailureCode): TaskCommand => ({ is: 'effect-failed', effect: 'coder.answerPermission', permissionId: 'per_1', failure: failure(code, 'It did not arrive.', 'Look.') })

describe('an ask for what no task grants', () => {
  it.each(['webfetch', 'task', 'external_directory', 'a tool of tomorrow'])('is denied and told, and the turn stops: %s', (permission) => {
    const task = playToWork().play(say.toolStarted('c1'), ask({ permission }))
    expect(task.effects).toMatchObject([{ kind: 'coder.answerPermission', allow: false }, { kind: 'coder.stop' }])
    expect(task.state).toMatchObject({ status: 'failed', failure: { code: 'opencode-failed' } })
    expect(task.state.failure?.message).toContain(permission)
    expect(task.state.openTools.size).toBe(0)
    expect(waitingHolds(task.state)).toEqual([])
    expect(brokenLaws(task.history)).toEqual([])
  })

  it('takes what waits for the owner with it', () => {
    const task = playToWork().play(say.bash('per_0', 'make'), ask({ permission: 'webfetch' }))
    expect([...task.state.holds.values()].at(-1)?.outcome).toBe('withdrawn')
  })
})

describe('an edit that the owner is to be asked about', () => {
  it('waits as a card when it can be shown whole, up to the limit', () => {
    const task = askingForEdits().play(ask({ diff: '+'.repeat(limits.editDiffBytesMax) }))
    expect(waitingHolds(task.state).map(({ hold }) => hold.kind)).toEqual(['edit'])
  })

  it.each<[string, string | null, string]>([
    ['says nothing of its change', null, 'does not say what it changes'],
    ['is larger than a card shows', '+'.repeat(limits.editDiffBytesMax + 1), 'too large to be shown whole'],
    ['is larger in bytes, not in characters', '€'.repeat(limits.editDiffBytesMax / 2), 'too large to be shown whole'],
  ])('is denied for its own reason when it %s, and the owner is told', (_name, diff, words) => {
    const task = askingForEdits().play(ask({ diff }))
    expect(task.effects).toMatchObject([{ kind: 'coder.answerPermission', allow: false }])
    expect(JSON.stringify(task.effects)).toContain(words)
    expect(task.events.at(-1)).toMatchObject({ type: 'noted', level: 'warning' })
    expect(JSON.stringify(task.events.at(-1))).toContain(words)
    expect([waitingHolds(task.state).length, task.state.status]).toEqual([0, 'working'])
  })
})

describe('a call that ends while its ask waits', () => {
  it('takes its card with it, and no other', () => {
    const task = askingForEdits().play(say.toolStarted('call_1'), ask({}), say.bash('per_0', 'make'), say.toolEnded('call_1'))
    expect(waitingHolds(task.state).map(({ hold }) => hold.subject)).toMatchObject([{ for: 'permission', permissionId: 'per_0' }])
    expect([...task.state.holds.values()].find(({ hold }) => hold.callId === 'call_1')?.outcome).toBe('withdrawn')
    expect(brokenLaws(task.history)).toEqual([])
  })
})

describe('an answer that did not arrive for certain', () => {
  const answered = (): Played => {
    const task = playToWork().play(say.bash('per_1', 'make'))
    task.decideHold('approved')
    return task
  }

  it('is told on its card, and the turn that may hang on it is uncertain, with its exits', () => {
    const task = answered().play(undelivered('opencode-failed'))
    expect(task.events.slice(-2).map(({ type }) => type)).toEqual(['answer-undelivered', 'recovery-needed'])
    expect(task.state.recovery?.what).toContain('may not have arrived')
    expect(brokenLaws(task.history)).toEqual([])
  })

  it.each(['unknown-approval', 'opencode-exited', 'command-refused'] as const)('is told, and leaves nothing uncertain where nobody waits for it: %s', (code) => {
    const task = answered().play(undelivered(code))
    expect(task.events.at(-1)).toMatchObject({ type: 'answer-undelivered', permissionId: 'per_1' })
    expect(task.state.recovery).toBeNull()
  })
})

describe('a card for what a subagent asks', () => {
  it.each([['a command', say.bash('per_1', 'make')], ['an edit', ask({})]] as const)('says so, and of which call: %s', (_what, asked) => {
    const facts = (parentCallId: CallId | null): readonly string[] => waitingHolds(askingForEdits().play({ ...asked, parentCallId } as Asked).state).flatMap(({ hold }) => hold.facts.filter(({ label }) => label === 'Asked by').map(({ value }) => value))
    expect(facts('call_task' as CallId)).toEqual(['a subagent of Bot B, begun by its call call_task'])
    expect(facts(null)).toEqual([])
  })
})
