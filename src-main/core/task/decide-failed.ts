import type { FailureCode } from '../../../src-preload/contract/failure.ts'
import type { DecideContext, HostCommand } from './commands.ts'
import { leadFailed } from './decide-brief.ts'
import { reviewed } from './decide-result.ts'
import { verified } from './decide-verified.ts'
import { decided, failTask, ignored, type Decided } from './decision.ts'
import type { EffectKind } from './effects.ts'
import type { TaskEvent } from './events.ts'
import { activeTurn, isFinished, openQuestions, uncertain, type TaskState } from './model.ts'
import { startTurn } from './turns.ts'
import { answerText } from './turn-text.ts'

type Failed = Extract<HostCommand, { is: 'effect-failed' }>

/** F1. An effect could not be done. Each kind has its consequence, so that no phase waits for an outcome that will not come; none is retried in silence. */
export function effectFailed(state: TaskState, command: Failed, ctx: DecideContext): Decided {
  const noted: TaskEvent = { type: 'noted', level: 'error', text: command.failure.message, todo: command.failure.todo }
  if (command.permissionId !== undefined) return answerUndelivered(state, command, command.permissionId)
  if (isFinished(state.status) || state.cancel !== null) return decided([noted])
  const kind = command.effect as EffectKind
  switch (kind) {
    case 'coder.start': return withoutCoder(state, command, noted)
    case 'workspace.prepare': case 'coder.session': case 'coder.submit': case 'evidence.collect':
      if (!awaited(state, kind)) return decided([noted])
      return state.recovery === null ? failTask(state, command.failure) : stillUncertain(state, command, [noted])
    case 'coder.reconcile': return state.recovery === null ? decided([noted]) : stillUncertain(state, command, [noted])
    case 'coder.answerQuestion': return answerNotTaken(state, command, ctx, noted)
    case 'lead.brief': return leadFailed(state, { is: 'lead-failed', purpose: 'brief', questionId: null, failure: command.failure }, ctx)
    case 'lead.answer': return leadFailed(state, { is: 'lead-failed', purpose: 'answer', questionId: openQuestions(state).find((question) => question.state === 'open')?.questionId ?? null, failure: command.failure }, ctx)
    case 'lead.review': return reviewed(state, { failure: command.failure }, ctx)
    case 'verify.run': return notVerified(state, command, ctx)
    // It broke off without saying how far it came: only a look at the folder can tell.
    case 'workspace.apply': case 'workspace.observe': return state.phase !== 'applying' ? decided([noted]) : decided([noted, { type: 'recovery-needed', what: uncertain(`Applying the result broke off: ${command.failure.message}`) }])
    case 'coder.stop': return notStopped(state, command, noted)
    case 'coder.answerPermission': case 'coder.answerCommand': case 'workspace.dispose': return decided([noted])
  }
}

/** E1. Files that somebody may still write to are no result, and no turn is sent again beside one that may still run. */
function notStopped(state: TaskState, command: Failed, noted: TaskEvent): Decided {
  if (state.phase === 'collecting') return failTask(state, command.failure)
  return state.recovery?.resending === true ? decided([noted, { type: 'recovery-needed', what: uncertain(`Nothing was sent again. ${command.failure.message}`) }]) : decided([noted])
}

/** The runtime knows the ask no more, is gone, or was told no in place of a yes that came too late. */
const nothingHangs: ReadonlySet<FailureCode> = new Set(['unknown-approval', 'opencode-exited', 'command-refused'])

/**
 * The answer to an ask did not reach the runtime for certain: its card says so. Where the runtime knows the ask no more, or is gone, nothing
 * hangs on it; else the turn may wait for ever on an answer that was lost, or go on with one that was not, and only the owner can tell.
 */
function answerUndelivered(state: TaskState, command: Failed, permissionId: string): Decided {
  const record = [...state.holds.values()].find(({ hold: { subject } }) => subject.for === 'permission' && subject.permissionId === permissionId)
  const over = isFinished(state.status) || state.cancel !== null
  if (over && record === undefined) return ignored
  const undelivered: TaskEvent = { type: 'answer-undelivered', permissionId, approvalId: record?.hold.approvalId ?? null, failure: command.failure }
  const turn = activeTurn(state)
  const hangs = !over && turn !== null && state.phase === 'coding' && state.coder.is === 'running' && !nothingHangs.has(command.failure.code)
  return decided(hangs ? [undelivered, { type: 'recovery-needed', what: uncertain(`An answer to an ask of turn ${String(turn.index)} may not have arrived: ${command.failure.message}`) }] : [undelivered])
}

/** Whether the task waits for this effect now; what fails late is told and changes nothing. */
function awaited(state: TaskState, kind: 'workspace.prepare' | 'coder.session' | 'coder.submit' | 'evidence.collect'): boolean {
  switch (kind) {
    case 'workspace.prepare': return state.phase === 'preparing'
    case 'coder.session': return state.sessionId === null && (state.phase === 'starting-coder' || activeTurn(state) !== null)
    case 'coder.submit': return state.phase === 'coding' && activeTurn(state)?.state === 'intended'
    case 'evidence.collect': return state.phase === 'collecting'
  }
}

/** The process did not start. */
function withoutCoder(state: TaskState, command: Failed, noted: TaskEvent): Decided {
  if (state.coder.is !== 'starting') return decided([noted])
  const gone: TaskEvent = { type: 'coder-gone', how: 'It did not start.', proof: null }
  if (state.recovery !== null) return stillUncertain(state, command, [noted, gone])
  const needed = state.phase === 'starting-coder' || activeTurn(state) !== null
  return needed ? failTask({ ...state, coder: { is: 'gone' } }, command.failure, [gone]) : decided([noted, gone])
}

function stillUncertain(state: TaskState, command: Failed, before: readonly TaskEvent[]): Decided {
  return decided([...before, { type: 'recovery-needed', what: uncertain(`The last check failed: ${command.failure.message} ${state.recovery?.what ?? ''}`) }])
}

/** The live question is gone: the answer goes out as a prompt of its own, which is a new turn in the budget. */
function answerNotTaken(state: TaskState, command: Failed, ctx: DecideContext, noted: TaskEvent): Decided {
  const question = [...state.questions.values()].filter((candidate) => candidate.state === 'answered').at(-1)
  const turn = activeTurn(state)
  if (question === undefined || turn === null || state.recovery !== null) return decided([noted])
  return startTurn(state, ctx, { kind: 'answer', text: answerText(question.text, question.answer ?? '') }, [noted, { type: 'turn-ended', turnId: turn.turnId, outcome: 'interrupted', text: '', failure: command.failure }])
}

/** The check itself broke: the result stays unverified, and the owner hears why. */
function notVerified(state: TaskState, command: Failed, ctx: DecideContext): Decided {
  if (state.evidence === null) return decided([{ type: 'noted', level: 'error', text: command.failure.message, todo: command.failure.todo }])
  return verified(state, { is: 'verified', verification: { passed: false, treeDigest: state.evidence.treeDigest, treeMatches: false, testRun: null, oracle: null, failure: command.failure } }, ctx)
}
