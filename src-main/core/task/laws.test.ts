import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ApprovalId, CallId, Digest, QuestionId, TurnId } from '../../../src-preload/contract/ids.ts'
import { failure } from '../../../src-preload/contract/failure.ts'
import { taskRowSchema } from '../../../src-preload/contract/rows.ts'
import type { RecoveryExit, TaskGrant } from '../../../src-preload/contract/task.ts'
import { editDigest, type EditCall } from '../approval/edit-call.ts'
import { digestOfText } from '../digest.ts'
import type { TaskCommand } from './commands.ts'
import type { EffectKind } from './effects.ts'
import { afterRestart } from './effects.ts'
import { fold } from './evolve.ts'
import { brokenLaws, type PlacedEvent } from './laws.ts'
import { isFinished, openQuestion, waitingHolds } from './model.ts'
import { aBrief, aTask, demoTarget, playTask, playToApply, playToResult, playToSend, playToStart, playToWork, remoteTarget, say, type Played } from './played.suite.ts'
import { taskRow } from './rows/task-row.ts'

const text = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 40 }), fc.constantFrom('', ' ', 'bun test', 'x'.repeat(5_000), '\u{1F600}'.repeat(2_000), '\uD800', '\u0001'.repeat(4_000)))
const name = fc.constantFrom('a', 'b', 'c')
const failureOf = fc.constantFrom(failure('unavailable', 'It broke.', 'Try again.'), failure('budget-exhausted', 'x'.repeat(2_000), ''), failure('cancelled', 'Stopped.', ''))
const verdict = fc.constantFrom('approved' as const, 'denied' as const)
const exit = fc.constantFrom<RecoveryExit>('re-check', 'mark-done', 'mark-not-done', 'resend')
const effectKind = fc.constantFrom(...(Object.keys(afterRestart) as EffectKind[]))
const pick = fc.nat({ max: 50 })

/** A command that fits what the task is doing, or a stray, late, doubled or forged one. `pick` chooses among what there is. */
type Move = (task: Played, pick: number) => TaskCommand
const at = <T>(items: readonly T[], index: number): T | undefined => (items.length === 0 ? undefined : items[index % items.length])
const someTurn = (task: Played, index: number): TurnId => at(task.state.turns, index)?.turnId ?? ('none' as TurnId)
const someMessage = (task: Played, index: number): string => at(task.state.turns, index)?.messageId ?? 'none'
const someQuestion = (task: Played, index: number): QuestionId => at([...task.state.questions.keys()], index) ?? ('none' as QuestionId)
const someAsk = (task: Played, index: number): string => at([...task.state.holds.values()].flatMap(({ hold: { subject } }) => (subject.for === 'command' ? [subject.askId] : [])), index) ?? 'none'

function decideHold(task: Played, index: number, approved: 'approved' | 'denied', forged: boolean): TaskCommand {
  const record = at([...task.state.holds.values()], index)
  return { is: 'decide-hold', approvalId: record?.hold.approvalId ?? ('none' as ApprovalId), digest: forged ? digestOfText('forged') : (record?.hold.digest ?? digestOfText('none')), verdict: approved, reason: null }
}
function decideWaiting(task: Played, index: number, approved: 'approved' | 'denied'): TaskCommand {
  const record = at(waitingHolds(task.state), index)
  if (record === undefined) return decideHold(task, index, approved, false)
  task.show(record.hold.approvalId)
  return { is: 'decide-hold', approvalId: record.hold.approvalId, digest: record.hold.digest, verdict: approved, reason: null }
}

const ownerMoves: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(verdict, fc.boolean()).map(([approved, mostly]): Move => (task, index) => decideWaiting(task, index, mostly ? 'approved' : approved)) },
  fc.tuple(verdict, fc.boolean()).map(([approved, forged]): Move => (task, index) => decideHold(task, index, approved, forged)),
  fc.constant<Move>((task, index) => { const record = at(waitingHolds(task.state), index); return record === undefined ? decideHold(task, index, 'approved', false) : { is: 'hold-shown', approvalId: record.hold.approvalId, digest: record.hold.digest } }),
  text.map((goal): Move => () => ({ is: 'write-brief', brief: { ...aBrief, goal } })),
  text.map((answer): Move => (task, index) => ({ is: 'answer-question', questionId: openQuestion(task.state)?.questionId ?? someQuestion(task, index), text: answer })),
  fc.constant<Move>(() => ({ is: 'stop-task' })),
  exit.map((way): Move => () => ({ is: 'resolve-recovery', exit: way })),
  fc.constant<Move>((_task, index) => ({ is: 'request-revision', revision: `task_${String(index)}` as never, requirement: 'Again' })),
  fc.constant<Move>((task, index) => { const record = at([...task.state.holds.values()], index); return { is: 'hold-shown', approvalId: record?.hold.approvalId ?? ('none' as ApprovalId), digest: record?.hold.digest ?? ('' as Digest) } }),
)

const editOf = (index: number): EditCall => ({ tool: 'write', input: { filePath: '/workspace/a.ts', content: String(index % 3) }, bases: [] })

const edited = (index: number): TaskCommand => ({ is: 'tool-ended', callId: `call_edt${String(index % 4)}` as CallId, tool: 'write', state: 'done', input: '{}', inputDigest: digestOfText('{}'), inputBytes: 2, target: null, output: '', outputTruncated: false, exitCode: null, title: null, change: editDigest('write', editOf(index).input) })

const hostMoves: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<TaskCommand>(say.prepared, say.brief, say.started, say.bound).map((command): Move => () => command) },
  { weight: 3, arbitrary: fc.constant<Move>((task, index) => ({ is: 'turn-submitted', turnId: someTurn(task, index) })) },
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom('completed' as const, 'completed' as const, 'failed' as const, 'aborted' as const), text).map(([outcome, said]): Move => (task, index) => ({ is: 'turn-ended', messageId: index % 3 === 0 ? someMessage(task, index) : (task.state.turns.at(-1)?.messageId ?? 'none'), outcome, text: said, failure: null })) },
  fc.tuple(text, fc.array(text, { maxLength: 30 }), name).map(([asked, options, id]): Move => (_task, index) => ({ is: 'question-asked', upstreamId: `que_${id}${String(index % 5)}`, text: asked, options })),
  fc.tuple(fc.option(text), text).map(([answer, why]): Move => (task, index) => ({ is: 'lead-answered', questionId: someQuestion(task, index), answer, why })),
  fc.tuple(name, text, fc.constantFrom('/workspace', '/workspace/a', '/etc')).map(([id, command, cwd]): Move => (_task, index) => say.bash(`per_${id}${String(index % 5)}`, command, cwd)),
  fc.tuple(fc.constantFrom('edit', 'edit', 'edit', 'edit', 'webfetch'), fc.option(text)).map(([permission, diff]): Move => (_task, index) => ({ is: 'permission-asked', permissionId: `edt_${String(index)}`, callId: `call_edt${String(index % 4)}` as CallId, permission, patterns: [], command: null, files: [{ path: '/workspace/a.ts', real: '/workspace/a.ts' }], diff, isolation: 'x', edit: editOf(index) })),
  fc.tuple(text, name).map(([command, id]): Move => (_task, index) => ({ is: 'command-asked', askId: `ask_${id}${String(index % 5)}`, text: command, cwd: '/workspace', isolation: 'x' })),
  fc.constant<Move>((task, index) => ({ is: 'ask-gone', askId: someAsk(task, index) })),
  fc.tuple(name, fc.constantFrom('begins', 'ends', 'begins', 'ends', 'edited')).map(([id, what]): Move => (_task, index) => (what === 'edited' ? edited(index) : what === 'ends' ? say.toolEnded(`call_${id}${String(index % 4)}`) : say.toolStarted(`call_${id}${String(index % 4)}`))),
  fc.tuple(text, name).map(([words, id]): Move => () => ({ is: 'message-said', name: id, text: words, reasoning: false })),
  fc.constantFrom<TaskCommand>({ is: 'foreign-permission-answer', permissionId: 'per_x', reply: 'always' }, { is: 'coder-exited', how: 'code 1' }, say.stopped, say.restarted, { is: 'deadline-passed' }, { is: 'workspace-disposed' }, { is: 'apply-unclear' }).map((command): Move => () => command),
  fc.tuple(effectKind, failureOf).map(([effect, because]): Move => () => ({ is: 'effect-failed', effect, failure: because })),
  fc.tuple(fc.constantFrom('brief' as const, 'answer' as const, 'review' as const), failureOf).map(([purpose, because]): Move => (task, index) => ({ is: 'lead-failed', purpose, questionId: someQuestion(task, index), failure: because })),
  text.map((what): Move => (task, index) => ({ is: 'turn-ambiguous', turnId: someTurn(task, index), what })),
  fc.constantFrom('absent' as const, 'running' as const, 'completed' as const, 'failed' as const, 'interrupted' as const).map((was): Move => (task, index) => ({ is: 'turn-reconciled', turnId: someTurn(task, index), state: was, text: 'from history' })),
  fc.constant<Move>((task, index) => ({ is: 'question-expired', questionId: someQuestion(task, index) })),
  fc.constant<Move>((task, index) => ({ is: 'hold-not-shown', approvalId: at([...task.state.holds.keys()], index) ?? ('none' as ApprovalId) })),
  fc.tuple(fc.nat({ max: 100_000 }), fc.constantFrom('lead' as const, 'coder' as const)).map(([bodyBytes, bot]): Move => () => ({ is: 'call-wanted', bot, model: 'm', bodyBytes, price: null, outputTokensMax: 1_000 })),
  // Larger than the whole budget, so that the owner is asked for more.
  fc.constantFrom('lead' as const, 'coder' as const).map((bot): Move => () => ({ is: 'call-wanted', bot, model: 'm', bodyBytes: 4_000_000, price: null, outputTokensMax: 1_000 })),
  failureOf.map((because): Move => () => ({ is: 'call-unservable', failure: because })),
  fc.option(fc.nat({ max: 10_000 })).map((tokens): Move => (task, index) => ({ is: 'call-ended', call: 1 + (index % (task.state.calls.length + 1)), path: 'direct', status: 200, modelAnswered: null, inputTokens: tokens, outputTokens: tokens, costMicroUsd: null, latencyMs: 1, failure: null })),
  { weight: 2, arbitrary: fc.constant<Move>((task) => ({ is: 'evidence-collected', evidence: { turnId: task.state.turns.at(-1)?.turnId ?? '', baseDigest: digestOfText('base'), treeDigest: digestOfText(`tree${String(task.state.turns.length)}`), diffDigest: digestOfText('diff'), files: [], testRun: null } })) },
  { weight: 2, arbitrary: fc.boolean().map((passed): Move => () => say.verified(passed)) },
  { weight: 2, arbitrary: fc.constant<Move>(() => say.reviewed) },
  fc.constantFrom<TaskCommand>({ is: 'applied', how: 'folder', detail: '', patchPath: null }, { is: 'apply-refused', failure: failure('folder-changed', 'It changed.', 'Look.') }).map((command): Move => () => command),
  fc.tuple(name, fc.constantFrom('done', 'late')).map(([id]): Move => () => ({ is: 'command-ran', text: `bun test ${id}`, cwd: '/workspace', exitCode: 0, refused: null, logDigest: digestOfText('log'), logTail: '', durationMs: 1, limitHit: null })),
)
const moves = fc.array(fc.tuple(fc.oneof({ weight: 1, arbitrary: ownerMoves }, { weight: 3, arbitrary: hostMoves }), pick), { minLength: 1, maxLength: 60 })

const grants = fc.record<TaskGrant>({ edits: fc.constantFrom('allow', 'ask', 'deny'), testCommand: fc.constantFrom('allow', 'ask', 'deny'), otherCommands: fc.constantFrom('ask', 'deny') })
const firsts = fc.record({ grant: grants, turnsMax: fc.integer({ min: 1, max: 6 }), messagesMax: fc.integer({ min: 2, max: 9 }), lead: fc.constantFrom(demoTarget, remoteTarget), coder: fc.constantFrom(demoTarget, remoteTarget) })
  .map(({ grant, turnsMax, messagesMax, lead, coder }) => say.open({ task: { grant, budget: { ...aTask.budget, turnsMax, messagesMax, requestsMax: 5 } }, lead, coder }))
const begun = fc.tuple(firsts, fc.constantFrom(playTask, playToStart, playToSend, playToWork, playToResult, playToApply)).map(([first, play]) => ({ first, play }))

/** The start as its kind plays it; a budget too small for it leaves the task where it failed. */
function begin({ first, play }: { readonly first: TaskCommand; readonly play: (first: TaskCommand) => Played }): Played {
  try {
    return play(first)
  } catch {
    return playTask(first)
  }
}

describe('any sequence of commands', () => {
  it('keeps the laws of a task, whoever says what in which order', () => {
    fc.assert(fc.property(begun, moves, (start, steps) => {
      const task = begin(start)
      for (const [move, index] of steps) task.give(move(task, index))
      expect(brokenLaws(task.history)).toEqual([])
    }), { numRuns: 1_500 })
  })

  it('folds to the state that it was played to, and to a row that the window takes', () => {
    fc.assert(fc.property(begun, moves, (start, steps) => {
      const task = begin(start)
      for (const [move, index] of steps) task.give(move(task, index))
      expect(fold(task.history)).toEqual(task.state)
      expect(taskRowSchema.safeParse(taskRow(task.state, { isolation: null, waiting: null })).error).toBeUndefined()
    }), { numRuns: 300 })
  })

  it('of the host alone never makes a task accepted, nor applies anything', () => {
    fc.assert(fc.property(begun.filter(({ play }) => play !== playToApply), fc.array(fc.tuple(hostMoves, pick), { minLength: 1, maxLength: 80 }), (start, steps) => {
      const task = begin(start)
      for (const [move, index] of steps) {
        task.give(move(task, index))
        expect(task.effects.map((effect) => effect.kind)).not.toContain('workspace.apply')
      }
      expect(task.state.status).not.toBe('accepted')
    }), { numRuns: 500 })
  })

  it('sends nothing to a coder after a stop was requested', () => {
    const sending: ReadonlySet<EffectKind> = new Set(['coder.start', 'coder.session', 'coder.submit', 'coder.answerQuestion', 'lead.brief', 'lead.answer', 'lead.review', 'verify.run', 'evidence.collect', 'workspace.apply', 'workspace.prepare'])
    fc.assert(fc.property(begun, moves, moves, (start, before, after) => {
      const task = begin(start)
      for (const [move, index] of before) task.give(move(task, index))
      task.give({ is: 'stop-task' })
      if (task.state.cancel === null) return
      for (const [move, index] of after) {
        task.give(move(task, index))
        expect(task.effects.filter((effect) => sending.has(effect.kind))).toEqual([])
        if (!isFinished(task.state.status)) expect(task.state.phase).toBe('stopping')
      }
    }), { numRuns: 500 })
  })

  it('gives a replayed decision of the owner no second effect', () => {
    fc.assert(fc.property(begun, moves, (start, steps) => {
      const task = begin(start)
      for (const [move, index] of steps) {
        const command = move(task, index)
        const first = task.give(command)
        if (command.is !== 'decide-hold' || !first.ok) continue
        expect(task.give(command).ok).toBe(false)
        expect(task.effects).toEqual([])
      }
    }), { numRuns: 300 })
  })
})

describe('the sequences', () => {
  it('reach every status and phase, so that the laws are not kept by doing nothing', () => {
    const statuses = new Set<string>()
    const phases = new Set<string>()
    const facets = new Set<string>()
    for (const [start, steps] of fc.sample(fc.tuple(begun, moves), { seed: 7, numRuns: 1_500 })) {
      const task = begin(start)
      for (const [move, index] of steps) {
        task.give(move(task, index))
        statuses.add(task.state.status)
        phases.add(task.state.phase)
        if (task.state.recovery !== null) facets.add('uncertain')
        if (task.state.cancel !== null) facets.add(`cancel ${task.state.cancel.state}`)
      }
    }
    expect([...statuses].sort()).toEqual(['accepted', 'blocked', 'cancelled', 'claimed', 'failed', 'open', 'result-ready', 'working'])
    expect(phases.size).toBe(12)
    expect([...facets].sort()).toEqual(['cancel observed', 'cancel requested', 'uncertain'])
  })
})

describe('the laws themselves', () => {
  const played = () => [...playToResult().history]
  const without = (type: string) => played().filter((event) => event.payload.type !== type)

  it('are kept by a task that went well', () => { expect(brokenLaws(played())).toEqual([]) })

  it.each([
    ['an acceptance without the owner', () => [...played(), { payload: { type: 'accepted', treeDigest: digestOfText('tree'), how: 'folder', detail: '', patchPath: null } as const, at: 1, seq: 99 }], 'accepted without the owner'],
    ['a turn without its intent', () => without('turn-intended'), 'without its intent'],
    ['a doubled final record', () => { const task = playToWork().play(say.toolStarted('call_1'), say.toolEnded('call_1')); return [...task.history, task.history.at(-1)!] }, 'two final records'],
    ['a missing envelope', () => without('envelope-posted').concat(played().filter((event) => event.payload.type === 'envelope-posted').slice(1)), 'nothing that the other bot said'],
    ['a call that began again', () => { const task = playToWork().play(say.toolStarted('call_1'), say.toolEnded('call_1')); return [...task.history, { payload: { ...say.toolStarted('call_1'), type: 'tool-started', callId: 'call_1' as CallId, parentCallId: null } as never, at: 1, seq: 99 }] }, 'began again'],
  ])('notice %s', (_name, broken: () => PlacedEvent[], words) => {
    expect(brokenLaws(broken()).join('\n')).toContain(words)
  })
})
