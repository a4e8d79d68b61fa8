import { createHash } from 'node:crypto'
import type { Conversation } from './conversation.ts'
import { tokensOf } from './pace.ts'
import type { Reply } from './reply.ts'

/** A reply with all that the wire needs: ids that depend on the request alone, arguments as JSON text, usage. */
export interface WireReply {
  readonly id: string
  readonly model: string
  readonly text: string
  readonly calls: readonly { readonly id: string; readonly tool: string; readonly json: string }[]
  readonly inputTokens: number
  readonly outputTokens: number
}

/** Dresses a reply for the wire. The same request gives the same ids, another one gives others. */
export function wireReply(conversation: Conversation, reply: Reply): WireReply {
  const said = JSON.stringify([conversation.system, conversation.items])
  const id = createHash('sha256').update(said).digest('hex').slice(0, 20)
  const calls = reply.calls.map((call, index) => ({ id: `call_${id}${index}`, tool: call.tool, json: JSON.stringify(call.input) }))
  return {
    id, model: conversation.model, text: reply.text, calls, inputTokens: tokensOf(said),
    outputTokens: tokensOf(reply.text + calls.map((call) => call.tool + call.json).join('')),
  }
}
