import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { CoderRun, CoderSignal } from '../../engine/ports.ts'
import type { ControlClient } from './control-client.ts'
import type { EditWatch } from './edit-watch.ts'
import { workspaceRoot } from '../../core/approval/path-pattern.ts'
import type { KeptRejects } from './kept-rejects.ts'
import type { LogLine } from './observer.ts'
import type { RefusedCommands } from './refused-commands.ts'
import type { ReplyLedger } from './reply-ledger.ts'

/** `ended`: the process is known to have ended. */
export interface AnswerParts { readonly client: ControlClient; readonly ended: () => boolean; readonly ledger: ReplyLedger; readonly kept: KeptRejects; readonly refused: RefusedCommands; readonly edits: EditWatch; readonly questionsIn: (questionId: string) => number; readonly tell: (signal: CoderSignal) => void; readonly log: (line: LogLine) => void }

const callMs = 15_000

/** Answers to OpenCode's asks and questions. `always` is never sent: it would outlive the approval. */
export function answerCalls(parts: AnswerParts): Pick<CoderRun, 'answerPermission' | 'answerQuestion' | 'rejectQuestion'> {
  return {
    async answerPermission(permissionId, reply) {
      const { ledger } = parts
      if (reply.allow) return await allow(parts, permissionId, reply.stands)
      const ask = ledger.open(permissionId)
      if (ask?.command == null || !ledger.othersOpen(permissionId)) return await reject(parts, permissionId, reply.message)
      parts.refused.expect({ text: ask.command, cwd: ask.cwd ?? workspaceRoot, callId: ask.callId }, reply.message)
      return await sendReply(parts, permissionId, { reply: 'once' })
    },
    answerQuestion: (questionId, answers) => send(parts, `/question/${questionId}/reply`, { answers: answerToEach(answers, parts.questionsIn(questionId)) }),
    rejectQuestion: (questionId) => send(parts, `/question/${questionId}/reject`, {}),
  }
}

/** An edit goes on alone, and only while what it was asked about is still there: an approval may come minutes after the ask. */
async function allow(parts: AnswerParts, permissionId: string, stands: (() => boolean) | undefined): Promise<Result<null, Failure>> {
  const objection = await parts.edits.letThrough(permissionId)
  if (objection === 'gone') return err(failure('opencode-exited', 'OpenCode ended before the edit could be made.', 'Nothing was changed by this answer.'))
  if (objection !== null) {
    const why = `The edit was not made: ${objection.changed}.`
    const waits = parts.ledger.othersOpen(permissionId)
    const rejected = reject(parts, permissionId, `${why} Look at it again, then make the edit again.`)
    // The owner is told now; Bot B may have to wait for the owner's other answers.
    if (waits) { logUntaken(parts, permissionId, rejected); return err(failure('command-refused', why, 'Nothing to do. Bot B is told when its other asks are answered, and asks again if it needs it.')) }
    const told = await rejected
    return told.ok ? err(failure('command-refused', why, 'Nothing to do. Bot B was told, and asks again if it needs it.')) : told
  }
  // Asked after the wait: commands that ran may have kept the edit for minutes.
  if (stands?.() === false) {
    parts.edits.notMade(permissionId)
    return await reject(parts, permissionId, 'The standing grant that covered this has ended.')
  }
  const sent = await sendReply(parts, permissionId, { reply: 'once' })
  if (!sent.ok && sent.error.code === 'unknown-approval') parts.edits.notMade(permissionId)
  return sent
}

/** One answer may be to several questions that were asked at once: OpenCode tells the model “Unanswered” for each that it has none for. */
function answerToEach(answers: readonly (readonly string[])[], questions: number): readonly (readonly string[])[] {
  return Array.from({ length: Math.max(answers.length, questions) }, (_, at) => answers[at] ?? answers.at(-1) ?? [])
}

/** Refuses an ask that must never be shown. Its reason is read by the model. */
export function refuseAsk(parts: AnswerParts, permissionId: string, sessionId: string, reason: string): void {
  parts.log({ level: 'error', msg: 'a permission ask was refused by the host', permissionId, sessionId, reason })
  parts.ledger.asked(permissionId, { sessionId, callId: null, command: null, cwd: null })
  logUntaken(parts, permissionId, reject(parts, permissionId, reason))
}

/** One ask, one answer: rejects this one and no other. It may take as long as the owner takes for the session's other asks, or until their turn ends. */
async function reject(parts: AnswerParts, permissionId: string, reason: string): Promise<Result<null, Failure>> {
  const message = await parts.kept.whenDue(permissionId, reason)
  if (message === null && !parts.ended()) return ok(null)
  const sent = await sendReply(parts, permissionId, { reply: 'reject', message: message ?? reason })
  // It was to be rejected, and was, with another that was.
  return !sent.ok && sent.error.code === 'unknown-approval' && parts.ledger.rejectedWithAnother(permissionId) ? ok(null) : sent
}

function logUntaken(parts: AnswerParts, permissionId: string, rejected: Promise<Result<null, Failure>>): void {
  rejected.then(
    (sent) => { if (!sent.ok) parts.log({ level: 'warn', msg: 'the refusal of an ask was not taken', permissionId, code: sent.error.code }) },
    (cause: unknown) => { parts.log({ level: 'error', msg: 'an ask could not be refused', permissionId, cause: String(cause) }) },
  )
}

async function sendReply(parts: AnswerParts, permissionId: string, body: { readonly reply: 'once' } | { readonly reply: 'reject'; readonly message: string }): Promise<Result<null, Failure>> {
  const { ledger, tell } = parts
  const sessionId = ledger.open(permissionId)?.sessionId ?? ''
  ledger.sending(permissionId, body.reply)
  const sent = await send(parts, `/permission/${permissionId}/reply`, body)
  if (sent.ok) ledger.taken(permissionId)
  else if (sent.error.code === 'unknown-approval' && ledger.refused(permissionId)) {
    tell({ signalId: `${permissionId}:replied:taken-for-ours`, sessionId, parentSessionId: null, is: 'permission-replied', permissionId, reply: body.reply })
  }
  ledger.answered(permissionId)
  return sent
}

async function send({ client, ended }: AnswerParts, path: string, body: unknown): Promise<Result<null, Failure>> {
  if (ended()) return err(failure('opencode-exited', 'OpenCode had ended before this answer was sent.', 'Nothing was changed or run by this answer.'))
  const outcome = await client.call({ method: 'POST', path, body, deadlineMs: callMs })
  if (outcome.is === 'answered' && outcome.status === 200) return ok(null)
  if (outcome.is === 'answered' && outcome.status === 404) return err(failure('unknown-approval', 'OpenCode does not know this any more: it was answered already, or its turn is over.', 'Nothing was run by this answer.'))
  return err(failure('opencode-failed', `The answer did not reach OpenCode for certain: ${outcome.is === 'answered' ? `HTTP ${outcome.status}` : outcome.why}.`, 'Look at what the tool row says; stop the task if it waits.'))
}
