import { failure } from '../../../src-preload/contract/failure.ts'
import { err, ok } from '../../../src-preload/contract/result.ts'
import { checkDecision, refuseConcealed } from '../approval/hold.ts'
import type { DecideContext, HostCommand, OwnerCommand, TaskCommand } from './commands.ts'
import { briefApproved, briefWritten, denied, leadFailed, openTask, providerApproved, workspacePrepared, writeBrief } from './decide-brief.ts'
import { topUpApproved, topUpDenied } from './decide-budget.ts'
import { callEnded, callUnservable, callWanted } from './decide-calls.ts'
import { appRestarted, coderExited, resolveRecovery, stoppedToResend, turnAmbiguous, turnReconciled } from './decide-recovery.ts'
import { acceptanceApproved, acceptanceDenied, applied, applyRefused, evidenceCollected, requestRevision, reviewed } from './decide-result.ts'
import { coderStopped, deadlinePassed, requestStop } from './decide-stop.ts'
import { resultCompared } from './decide-compared.ts'
import { correctionOverdue, verified } from './decide-verified.ts'
import { grantGiven, revokeGrant } from './decide-grant.ts'
import { askGone, commandAsked, foreignAnswer, permissionAsked } from './decide-permission.ts'
import { leadAnswered, ownerAnswers, questionAsked, questionExpired } from './decide-question.ts'
import { coderStarted, sessionBound, callIdUsedTwice, toolEnded, toolStarted, turnEnded } from './decide-work.ts'
import { decided, ignored, type Decided } from './decision.ts'
import { effectFailed } from './decide-failed.ts'
import { chooseAmount } from './top-up.ts'
import { isFinished, type TaskState } from './model.ts'

/** What a finished task still takes: the truth about its process, its cleaning up, its calls' ends, its acceptance card's fate. */
const takenWhenFinished: ReadonlySet<TaskCommand['is']> = new Set(['stop-task', 'coder-stopped', 'coder-exited', 'workspace-disposed', 'call-ended', 'request-revision', 'clean-up', 'app-restarted', 'effect-failed', 'decide-hold', 'hold-shown', 'tool-ended'])

/**
 * Decides what a command leads to. Pure: the same state, command and context give the same decision.
 * T4. No late command revives a finished task.
 */
export function decide(state: TaskState | null, command: TaskCommand, ctx: DecideContext): Decided {
  if (state === null) return command.is === 'open-task' ? openTask(command, ctx) : err(failure('unknown-task', 'This task is not known.', 'Choose a task from the list.'))
  if (isFinished(state.status) && !takenWhenFinished.has(command.is)) return ignored
  return isOwner(command) ? decideOwner(state, command, ctx) : decideHost(state, command, ctx)
}

const ownerCommands: Record<OwnerCommand['is'], true> = { 'open-task': true, 'decide-hold': true, 'hold-shown': true, 'revoke-grant': true, 'write-brief': true, 'answer-question': true, 'stop-task': true, 'clean-up': true, 'request-revision': true, 'resolve-recovery': true }
function isOwner(command: TaskCommand): command is OwnerCommand {
  return command.is in ownerCommands
}

function decideOwner(state: TaskState, command: OwnerCommand, ctx: DecideContext): Decided {
  switch (command.is) {
    case 'open-task': return err(failure('conflict', 'This task exists already.', 'Nothing happened.'))
    case 'decide-hold': return decideHold(state, command, ctx)
    case 'hold-shown': {
      const record = state.holds.get(command.approvalId)
      if (record !== undefined && record.hold.digest !== command.digest) return err(failure('digest-mismatch', 'What is on screen is not what waits.', 'The card is drawn anew. Nothing happened.'))
      if (record?.outcome !== 'waiting' || record.shownAt !== null) return ignored
      return decided([{ type: 'hold-shown', approvalId: command.approvalId }])
    }
    case 'revoke-grant': return revokeGrant(state, command)
    case 'write-brief': return writeBrief(state, command, ctx)
    case 'answer-question': return ownerAnswers(state, command, ctx)
    case 'stop-task': return requestStop(state, 'the owner stopped the task', 'cancelled', null)
    case 'request-revision': return requestRevision(state, command)
    case 'resolve-recovery': return resolveRecovery(state, command, ctx)
    case 'clean-up': return cleanUp(state)
  }
}

/** What a finished task has left on disk goes when its owner says so; that it went stays on record. */
function cleanUp(state: TaskState): Decided {
  if (!isFinished(state.status) || state.coder.is === 'running' || state.coder.is === 'starting') return err(failure('wrong-state', 'This task still uses its workspace.', 'Accept, reject or stop it first.'))
  return decided([{ type: 'noted', level: 'info', text: 'The owner deleted what this task had left on disk: its working copy and the snapshot of its changes. Its history stays.', todo: null }])
}

/** One click, one hold: consumed in the same transaction as the intent of its effect. */
function decideHold(state: TaskState, command: Extract<OwnerCommand, { is: 'decide-hold' }>, ctx: DecideContext): Decided {
  const checked = checkDecision(state.holds.get(command.approvalId), command.digest, state.generation, ctx.now)
  if (!checked.ok) return checked
  const { subject, digest, approvalId, exact } = checked.value
  const approved = command.verdict === 'approved'
  const whole = approved ? refuseConcealed(state.taskId, checked.value) : ok(null)
  if (!whole.ok) return whole
  const chosen = chooseAmount(checked.value, approved ? command.amount : undefined)
  if (!chosen.ok) return chosen
  const settled = { type: 'hold-settled' as const, approvalId, outcome: command.verdict, digest, cause: command.reason, ...(chosen.value === null ? {} : { chosen: chosen.value }) }
  const given = grantGiven(state, ctx, checked.value, approved ? command.standing ?? null : null)
  if (!given.ok) return given
  switch (subject.for) {
    case 'brief': return approved ? briefApproved(state, ctx, settled) : denied(state, settled, 'The brief')
    case 'provider': return approved ? providerApproved(state, subject.bot, settled) : denied(state, settled, 'The provider')
    case 'budget': return approved ? topUpApproved(state, ctx, settled, subject) : topUpDenied(state, ctx, settled)
    case 'acceptance': return approved ? acceptanceApproved(state, settled) : acceptanceDenied(state, settled, command.reason)
    case 'permission': {
      const message = approved ? '' : `The owner denied this${command.reason === null || command.reason === '' ? '.' : `: ${command.reason}`}`
      return decided([settled, ...given.value, { type: 'permission-ruled', permissionId: subject.permissionId, callId: checked.value.callId, ruling: approved ? 'granted' : 'denied', by: 'the owner', text: subject.command?.text ?? exact.label, ...(approved && checked.value.change !== undefined ? { change: checked.value.change } : {}) }],
        [{ kind: 'coder.answerPermission', permissionId: subject.permissionId, allow: approved, message, command: approved ? subject.command : null }])
    }
    case 'command': return decided([settled, ...given.value, { type: 'permission-ruled', permissionId: subject.askId, callId: null, ruling: approved ? 'granted' : 'denied', by: 'the owner', text: subject.command.text }],
      [{ kind: 'coder.answerCommand', askId: subject.askId, allow: approved, message: 'the owner denied it' }])
  }
}

function decideHost(state: TaskState, command: HostCommand, ctx: DecideContext): Decided {
  switch (command.is) {
    case 'workspace-prepared': return workspacePrepared(state, command, ctx)
    case 'brief-written': return briefWritten(state, command, ctx)
    case 'lead-answered': return leadAnswered(state, command, ctx)
    case 'review-written': return reviewed(state, command, ctx)
    case 'lead-failed': return command.purpose === 'review' ? reviewed(state, { failure: command.failure }, ctx) : leadFailed(state, command, ctx)
    case 'coder-started': return coderStarted(state, command)
    case 'session-bound': return sessionBound(state, command, ctx)
    case 'turn-submitted': return state.turns.some((turn) => turn.turnId === command.turnId && turn.state === 'intended') ? decided([{ type: 'turn-submitted', turnId: command.turnId }]) : ignored
    case 'turn-ambiguous': return turnAmbiguous(state, command)
    case 'turn-reconciled': return turnReconciled(state, command)
    case 'turn-ended': return turnEnded(state, command, ctx)
    case 'message-said': return decided([{ type: 'message-said', author: 'coder', name: command.name, text: command.text, reasoning: command.reasoning }])
    case 'tool-started': return toolStarted(state, command)
    case 'tool-ended': return toolEnded(state, command)
    case 'call-id-used-twice': return callIdUsedTwice(command)
    case 'permission-asked': return permissionAsked(state, command, ctx)
    case 'foreign-permission-answer': return foreignAnswer(state, command)
    case 'command-asked': return commandAsked(state, command, ctx)
    case 'ask-gone': return askGone(state, command)
    case 'command-ran': { const { is: _, ...facts } = command; return decided([{ type: 'command-ran', ...facts }]) }
    case 'question-asked': return questionAsked(state, command, ctx)
    case 'question-expired': return questionExpired(state, command)
    case 'coder-exited': return coderExited(state, command)
    case 'coder-stopped': return stoppedToResend(state, command, ctx) ?? coderStopped(state, command)
    case 'call-wanted': return callWanted(state, command, ctx)
    case 'call-ended': return callEnded(state, command)
    case 'call-unservable': return callUnservable(state, command)
    case 'evidence-collected': return evidenceCollected(state, command, ctx)
    case 'verified': return verified(state, command, ctx)
    case 'applied': return applied(state, command)
    case 'apply-refused': return applyRefused(state, command.failure, ctx)
    case 'result-compared': return resultCompared(state, command)
    case 'apply-unclear': return state.phase === 'applying' ? decided([{ type: 'recovery-needed', what: 'The app ended while the result was being applied, and the folder matches neither the old nor the new state.' }]) : ignored
    case 'workspace-disposed': return state.workspaceDisposed ? ignored : decided([{ type: 'workspace-disposed' }])
    case 'effect-failed': return effectFailed(state, command, ctx)
    case 'deadline-passed': return correctionOverdue(state, ctx) ?? deadlinePassed(state)
    case 'hold-not-shown': return state.holds.get(command.approvalId)?.outcome === 'waiting' && state.holds.get(command.approvalId)?.shownAt === null ? decided([{ type: 'hold-alarmed', approvalId: command.approvalId }]) : ignored
    case 'app-restarted': return appRestarted(state, command)
  }
}
