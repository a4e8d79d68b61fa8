import type { Bot, Digest, TurnId } from '../../../src-preload/contract/ids.ts'
import { encodeEnvelope, type EnvelopeKind, type EnvelopePayload } from '../envelope/codec.ts'
import type { DecideContext } from './commands.ts'
import type { TaskEvent } from './events.ts'
import type { TaskState } from './model.ts'

type Posted = Extract<TaskEvent, { type: 'envelope-posted' }>

/**
 * One envelope from a bot into the room: the only path between the bots. It carries selected text only.
 * `inReplyTo` names an envelope of the other bot: the question for an answer, the newest word for everything else. Only the request that begins
 * the work replies to nothing and belongs to no turn; one of a turn corrects the result that it replies to.
 */
export function post<K extends EnvelopeKind>(state: TaskState, ctx: DecideContext, from: Bot, kind: K, turnId: TurnId | null, payload: EnvelopePayload[K], answers: string | null = null): Posted {
  const seq = state.envelopeSeq[from] + 1
  const eventId = ctx.mint('env')
  const encoded: { text: string; digest: Digest } = encodeEnvelope({
    version: 1, kind, eventId, taskId: state.taskId, turnId, inReplyTo: kind === 'request' && turnId === null ? null : (answers ?? state.lastEnvelope[from === 'lead' ? 'coder' : 'lead']), generation: state.generation, seq,
    inputVersion: state.brief?.inputVersion ?? 0, inputDigest: state.brief?.inputDigest ?? null, payload,
  })
  return { type: 'envelope-posted', from, kind, seq, eventId, text: encoded.text, digest: encoded.digest }
}
