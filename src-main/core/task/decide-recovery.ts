import { failure } from '../../../src-preload/contract/failure.ts'
import { err } from '../../../src-preload/contract/result.ts'
import type { RecoveryExit } from '../../../src-preload/contract/task.ts'
import type { DecideContext, HostCommand, OwnerCommand } from './commands.ts'
import { decided, endOfTurn, failTask, hangsOnTurn, ignored, interruptTools, refuseAsks, withdrawHolds, withdrawQuestions, wrongState, type Decided } from './decision.ts'
import { afterRestart, type EffectKind } from './effects.ts'
import type { TaskEvent } from './events.ts'
import { activeTurn, isFinished, uncertain, type TaskState, type Turn } from './model.ts'
import { resolveCompared } from './decide-compared.ts'
import { applyRefused, applied } from './decide-result.ts'
import { coderStopped, deadlinePassed } from './decide-stop.ts'
import { sessionTitle, startTurn } from './turns.ts'
import { continueText } from './turn-text.ts'

type Host<K extends HostCommand['is']> = Extract<HostCommand, { is: K }>

/** What hung on a process that is gone ends: rows, holds of its permissions, its question. */
function lostWithCoder(state: TaskState, how: string, proof: Extract<TaskEvent, { type: 'coder-gone' }>['proof']): TaskEvent[] {
  const gone: TaskEvent[] = state.coder.is === 'running' || state.coder.is === 'starting' ? [{ type: 'coder-gone', how, proof }] : []
  return [...interruptTools(state, how), ...withdrawHolds(state, how, hangsOnTurn), ...withdrawQuestions(state).filter((event) => event.type === 'question-closed' && state.questions.get(event.questionId)?.purpose === 'work'), ...gone]
}

const retired = (Object.keys(afterRestart) as EffectKind[]).filter((kind) => afterRestart[kind] === 'retire')

/**
 * The app starts again. R1. Nothing is submitted again by itself: a turn that was in flight becomes uncertain, with its exits.
 * R2. Every open row ends. Effects that are safe to repeat stay pending and are run by the outbox.
 */
export function appRestarted(state: TaskState, command: Host<'app-restarted'>): Decided {
  const calls = lostCalls(state)
  // A finished task keeps nothing open, and its workspace goes although the app ended before that was done.
  if (isFinished(state.status)) return decided([...calls, ...lostWithCoder(state, 'The app ended.', command.proof)], state.workspaceDisposed ? [] : [{ kind: 'workspace.dispose' }], [...retired, 'workspace.dispose'])
  if (state.phase === 'stopping') {
    const stopped = coderStopped(state, { is: 'coder-stopped', proof: command.proof })
    return stopped.ok ? decided([...calls, ...stopped.value.events], stopped.value.effects, retired) : stopped
  }
  const lost = [...calls, ...lostWithCoder(state, 'The app ended while this ran.', command.proof)]
  const turn = activeTurn(state)
  if (turn !== null) return decided([...lost, { type: 'recovery-needed', what: uncertain(`The app ended. ${interruptedWords(turn)}`) }], [], retired)
  if (state.phase === 'starting-coder' && state.coder.is !== 'none') return decided([...lost, { type: 'coder-start-intended', sessionTitle: sessionTitle(state) }], [{ kind: 'coder.start' }], retired)
  // The process that had to end before the files were taken has ended with the app.
  const last = state.turns.at(-1)
  if (state.phase === 'collecting' && last !== undefined) return decided(lost, [{ kind: 'evidence.collect', turnId: last.turnId }], [...retired, 'evidence.collect'])
  return decided(lost, [], retired)
}

/** Model calls that were open when the app ended: nobody saw their end, so they count as spent. */
function lostCalls(state: TaskState): TaskEvent[] {
  return state.calls.flatMap((call, index) => (call.settled ? [] : [{ type: 'call-lost' as const, call: index + 1 }]))
}

function interruptedWords(turn: Turn): string {
  return turn.state === 'submitted'
    ? `Turn ${String(turn.index)} was running when its process ended. Files in the workspace may be partly changed. It was not sent again.`
    : `Turn ${String(turn.index)} was about to be sent when this happened; it may or may not have arrived. It was not sent again.`
}

/** The agent's process ended by itself. */
export function coderExited(state: TaskState, command: Host<'coder-exited'>): Decided {
  if (state.coder.is !== 'running' && state.coder.is !== 'starting') return ignored
  if (state.phase === 'stopping' || state.recovery?.resending === true) return ignored // The stop that is under way brings its proof.
  // Its end is not yet the proof that nobody is left: that is what the stop brings, which is under way or begins again.
  if (isFinished(state.status) || state.phase === 'acceptance-waits') return decided([], [{ kind: 'coder.stop' }])
  const lost = lostWithCoder(state, `OpenCode ended (${command.how}).`, null)
  const turn = activeTurn(state)
  if (turn !== null) return decided([...lost, { type: 'recovery-needed', what: uncertain(`OpenCode ended (${command.how}). ${interruptedWords(turn)}`) }], [], retired)
  if (state.phase === 'starting-coder') return failTask({ ...state, coder: { is: 'gone' } }, failure('opencode-exited', `OpenCode ended while it started (${command.how}).`, 'Look at Settings → Runtimes, then start the task again.'), lost)
  return decided(lost)
}

/** A send without a clear outcome: never repeated because of a timeout. */
export function turnAmbiguous(state: TaskState, command: Host<'turn-ambiguous'>): Decided {
  const turn = activeTurn(state)
  // Known to have arrived by what was seen of it: nothing is ambiguous.
  if (turn?.turnId !== command.turnId || turn.state === 'submitted') return ignored
  return decided([{ type: 'recovery-needed', what: uncertain(command.what) }], [{ kind: 'coder.reconcile', turnId: turn.turnId }])
}

/** What the session's history says of the uncertain turn. */
export function turnReconciled(state: TaskState, command: Host<'turn-reconciled'>): Decided {
  const turn = activeTurn(state)
  if (state.recovery === null || turn?.turnId !== command.turnId) return ignored
  const arrival: TaskEvent[] = turn.state === 'intended' ? [{ type: 'turn-submitted', turnId: turn.turnId }] : []
  const mayResend = (words: string): string => (state.recovery?.late === true ? 'The deadline has passed, so nothing is sent again;' : words)
  switch (command.state) {
    case 'completed': return decided([
      { type: 'recovery-resolved', exit: 're-check', detail: 'The session\'s history has the turn, completed.' }, ...endOfTurn(state, 'The turn ended.', true),
      { type: 'turn-ended', turnId: turn.turnId, outcome: 'completed', text: command.text, failure: null },
    ], [...refuseAsks(state, 'the turn ended'), { kind: 'evidence.collect', turnId: turn.turnId }], ['lead.answer'])
    case 'running': {
      const runs: TaskEvent[] = [{ type: 'recovery-resolved', exit: 're-check', detail: 'The session\'s history has the turn, and it is running.' }, ...arrival]
      const overdue = state.recovery.late === true ? deadlinePassed({ ...state, recovery: null }) : null
      return overdue?.ok === true ? decided([...runs, ...overdue.value.events], overdue.value.effects, overdue.value.retire) : decided(runs)
    }
    case 'absent': return decided([...(turn.absent ? [] : [{ type: 'turn-found-absent' as const, turnId: turn.turnId }]), { type: 'recovery-needed', what: `Checked: turn ${String(turn.index)} never arrived. ${mayResend('You may resend it;')} marking it as not done ends the task.` }])
    case 'failed': case 'interrupted': return decided([...arrival, { type: 'recovery-needed', what: `Checked: turn ${String(turn.index)} arrived and was interrupted before it ended. ${mayResend('Resend goes on in the same session;')} mark done takes the files as they are.` }])
  }
}

/** The owner disposes of an uncertain effect by one of the four exits. */
export function resolveRecovery(state: TaskState, command: Extract<OwnerCommand, { is: 'resolve-recovery' }>, ctx: DecideContext): Decided {
  if (state.recovery === null) return wrongState(state, 'Resolving')
  if (state.phase === 'applying') return resolveApply(state, command, ctx)
  if (state.phase === 'acceptance-waits') return resolveCompared(state, command)
  const turn = activeTurn(state)
  if (turn === null) return decided([{ type: 'recovery-resolved', exit: command.exit, detail: 'Nothing was in flight any more.' }])
  const resolved = resolvedBy(command.exit)
  switch (command.exit) {
    case 're-check':
      if (state.recovery.resending === true) return ignored // Its process is being stopped.
      if (state.coder.is === 'running') return decided([], [{ kind: 'coder.reconcile', turnId: turn.turnId }])
      if (state.coder.is === 'starting') return ignored // A check is under way; a second process would share the first one's state.
      return decided([{ type: 'coder-start-intended', sessionTitle: sessionTitle(state) }], [{ kind: 'coder.start' }])
    case 'mark-done': return markDone(state, turn, resolved)
    case 'mark-not-done': return failTask(state, failure('cancelled', 'The owner marked the interrupted turn as not done.', 'A snapshot of the workspace was kept. Start the task again if you like.'), [resolved, { type: 'turn-ended', turnId: turn.turnId, outcome: 'interrupted', text: '', failure: null }])
    case 'resend':
      // Time is up for new work; what was done before can still be taken.
      if (ctx.now >= state.deadlineAt) return tooLateToResend
      if (turn.absent && ownMessage(state, turn)) return resendSame(state, turn, resolved)
      return state.coder.is === 'running' ? stopToResend(state) : resendAnew(state, turn, ctx)
  }
}

function resolvedBy(exit: RecoveryExit): TaskEvent {
  return { type: 'recovery-resolved', exit, detail: 'The owner decided.' }
}

const tooLateToResend = err(failure('deadline-passed', 'The task\'s deadline has passed, so nothing is sent again.', 'Check again or mark the turn as done to keep what it did, mark it as not done, or start a new task.'))

/** A turn that may have arrived is given up for a new one, which goes on from what it did. */
function resendAnew(state: TaskState, turn: Turn, ctx: DecideContext): Decided {
  const ended: TaskEvent = { type: 'turn-ended', turnId: turn.turnId, outcome: 'interrupted', text: '', failure: null }
  const started = startTurn(state, ctx, { kind: 'continue', text: continueText(turn.text) }, [resolvedBy('resend'), ...endOfTurn(state, 'The turn was given up for a new one.', false), ended])
  return started.ok && started.value.retire !== 'all' ? decided(started.value.events, [...refuseAsks(state, 'the turn ended'), ...started.value.effects], ['lead.answer']) : started
}

/**
 * T5. The turn may still run in a live process, and OpenCode takes a second prompt for more of the first: the process is stopped, with proof,
 * before anything is sent. Until then the turn stays uncertain, so that an end of the app, a deadline or a failed stop leaves the owner every exit.
 */
function stopToResend(state: TaskState): Decided {
  if (state.recovery?.resending === true) return ignored
  return decided([{ type: 'recovery-needed', what: 'What may still run is stopped first; the turn is sent again once that is proven.', resending: true }], [{ kind: 'coder.stop' }], ['coder.reconcile'])
}

/** The process is gone, and the owner's resend goes on. Null: it was not stopped for one. */
export function stoppedToResend(state: TaskState, command: Host<'coder-stopped'>, ctx: DecideContext): Decided | null {
  const turn = activeTurn(state)
  const stopped = state.recovery?.resending === true && state.cancel === null && turn !== null ? coderStopped(state, command) : null
  if (turn === null || stopped?.ok !== true) return null
  const after: TaskState = { ...state, coder: { is: 'gone' }, openTools: new Map() }
  const resent = ctx.now >= state.deadlineAt ? tooLateToResend : resendAnew(after, turn, ctx)
  if (!resent.ok) return decided([...stopped.value.events, { type: 'recovery-needed', what: uncertain(resent.error.message) }])
  return decided([...stopped.value.events, ...resent.value.events], resent.value.effects, resent.value.retire)
}

/** The files as they are become the result. E1. Nobody may write to them any more: a process that runs is stopped, with proof, before they are compared. */
function markDone(state: TaskState, turn: Turn, resolved: TaskEvent): Decided {
  const runs = state.coder.is === 'running' || state.coder.is === 'starting'
  return decided([
    resolved, ...endOfTurn(state, 'The owner took the files as they are.', true),
    { type: 'turn-ended', turnId: turn.turnId, outcome: 'completed', text: 'The owner took the files as they are after an interruption.', failure: null },
  ], [...refuseAsks(state, 'the turn ended'), runs ? { kind: 'coder.stop' } : { kind: 'evidence.collect', turnId: turn.turnId }], ['lead.answer'])
}

/** Whether the turn has a message of its own; an answer to a live question goes on in an earlier one. */
function ownMessage(state: TaskState, turn: Turn): boolean {
  return !state.turns.some((other) => other.turnId !== turn.turnId && other.messageId === turn.messageId)
}

/**
 * A turn that history does not have is sent under the same ids: the runtime takes them once, and the budget has paid for them.
 * One that may have arrived is not: the runtime would take it as known, and nothing would go on.
 */
function resendSame(state: TaskState, turn: Turn, resolved: TaskEvent): Decided {
  if (state.coder.is === 'running') return decided([resolved], [{ kind: 'coder.submit', turnId: turn.turnId }])
  if (state.coder.is === 'starting') return decided([resolved])
  return decided([resolved, { type: 'coder-start-intended', sessionTitle: sessionTitle(state) }], [{ kind: 'coder.start' }])
}

/** After a crash in the middle of applying, where the folder's state is unclear. */
function resolveApply(state: TaskState, command: Extract<OwnerCommand, { is: 'resolve-recovery' }>, ctx: DecideContext): Decided {
  const resolved = resolvedBy(command.exit)
  if (state.evidence === null) return wrongState(state, 'Resolving')
  switch (command.exit) {
    // The folder is looked at first: applying again what is applied already would be refused as a change of the folder.
    case 're-check': return decided([], [{ kind: 'workspace.observe', treeDigest: state.evidence.treeDigest }])
    case 'resend': return decided([resolved], [{ kind: 'workspace.apply', treeDigest: state.evidence.treeDigest }])
    case 'mark-done': {
      const done = applied({ ...state, recovery: null }, { is: 'applied', how: state.source.kind === 'folder' ? 'folder' : 'patch-file', detail: 'The owner marked it as applied.', patchPath: null })
      return done.ok ? decided([resolved, ...done.value.events], done.value.effects) : done
    }
    case 'mark-not-done': {
      const refused = applyRefused({ ...state, recovery: null }, failure('apply-failed', 'The owner marked the result as not applied.', 'Accept again, reject, or save the patch.'), ctx)
      return refused.ok ? decided([resolved, ...refused.value.events]) : refused
    }
  }
}
