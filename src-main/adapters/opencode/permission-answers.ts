import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { CoderRun, CoderSignal } from '../../engine/ports.ts'
import type { ControlClient } from './control-client.ts'
import { inside } from './launch-config.ts'
import type { LogLine } from './observer.ts'
import type { RefusedCommands } from './refused-commands.ts'
import type { ReplyLedger } from './reply-ledger.ts'

export interface AnswerParts { readonly client: ControlClient; readonly ledger: ReplyLedger; readonly refused: RefusedCommands; readonly questionsIn: (questionId: string) => number; readonly tell: (signal: CoderSignal) => void; readonly log: (line: LogLine) => void }

const callMs = 15_000

/** Answers to OpenCode's asks and questions. `always` is never sent: it would outlive the approval. */
export function answerCalls(parts: AnswerParts): Pick<CoderRun, 'answerPermission' | 'answerQuestion' | 'rejectQuestion'> {
  return {
    async answerPermission(permissionId, reply) {
      const { ledger } = parts
      if (reply.allow) return await sendReply(parts, permissionId, { reply: 'once' })
      const ask = ledger.open(permissionId)
      if (ask?.command == null || !ledger.othersOpen(permissionId)) return await sendReply(parts, permissionId, { reply: 'reject', message: reply.message })
      parts.refused.expect({ text: ask.command, cwd: ask.cwd ?? inside.workspace, callId: ask.callId }, reply.message)
      return await sendReply(parts, permissionId, { reply: 'once' })
    },
    answerQuestion: (questionId, answers) => send(parts.client, `/question/${questionId}/reply`, { answers: answerToEach(answers, parts.questionsIn(questionId)) }),
    rejectQuestion: (questionId) => send(parts.client, `/question/${questionId}/reject`, {}),
  }
}

/** One answer may be to several questions that were asked at once: OpenCode tells the model “Unanswered” for each that it has none for. */
function answerToEach(answers: readonly (readonly string[])[], questions: number): readonly (readonly string[])[] {
  return Array.from({ length: Math.max(answers.length, questions) }, (_, at) => answers[at] ?? answers.at(-1) ?? [])
}

/** Refuses an ask that must never be shown. Its reason is read by the model. */
export async function refuseAsk(parts: AnswerParts, permissionId: string, sessionId: string, reason: string): Promise<void> {
  parts.log({ level: 'error', msg: 'a permission ask was refused by the host', permissionId, sessionId, reason })
  parts.ledger.asked(permissionId, { sessionId, callId: null, command: null, cwd: null })
  const sent = await sendReply(parts, permissionId, { reply: 'reject', message: reason })
  if (!sent.ok) parts.log({ level: 'warn', msg: 'the refusal of an ask was not taken', permissionId, code: sent.error.code })
}

async function sendReply({ client, ledger, tell }: AnswerParts, permissionId: string, body: { readonly reply: 'once' } | { readonly reply: 'reject'; readonly message: string }): Promise<Result<null, Failure>> {
  const sessionId = ledger.open(permissionId)?.sessionId ?? ''
  ledger.sending(permissionId, body.reply)
  const sent = await send(client, `/permission/${permissionId}/reply`, body)
  if (sent.ok) ledger.taken(permissionId)
  else if (sent.error.code === 'unknown-approval' && ledger.refused(permissionId)) {
    tell({ signalId: `${permissionId}:replied:taken-for-ours`, sessionId, parentSessionId: null, is: 'permission-replied', permissionId, reply: body.reply })
  }
  return sent
}

async function send(client: ControlClient, path: string, body: unknown): Promise<Result<null, Failure>> {
  const outcome = await client.call({ method: 'POST', path, body, deadlineMs: callMs })
  if (outcome.is === 'answered' && outcome.status === 200) return ok(null)
  if (outcome.is === 'answered' && outcome.status === 404) return err(failure('unknown-approval', 'OpenCode does not know this any more: it was answered already, or its turn is over.', 'Nothing was run by this answer.'))
  return err(failure('opencode-failed', `The answer did not reach OpenCode for certain: ${outcome.is === 'answered' ? `HTTP ${outcome.status}` : outcome.why}.`, 'Look at what the tool row says; stop the task if it waits.'))
}
