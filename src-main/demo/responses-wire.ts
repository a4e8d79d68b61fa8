import { paced, pacedArguments } from './pace.ts'
import type { StreamWriter } from './stream-writer.ts'
import type { WireReply } from './wire-reply.ts'

/** Streams a reply as events of the Responses API. Source: https://platform.openai.com/docs/api-reference/responses-streaming */
export async function streamResponses(reply: WireReply, writer: StreamWriter, holdMs: number): Promise<void> {
  let sequence = 0
  const send = (type: string, fields: Readonly<Record<string, unknown>>): void => writer.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...fields })}\n\n`)
  send('response.created', { response: responseOf(reply, 'in_progress') })
  send('response.in_progress', { response: responseOf(reply, 'in_progress') })
  const items = itemsOf(reply)
  for (const [outputIndex, item] of items.entries()) {
    if (item.type === 'message') await streamMessage(reply.text, item.id, outputIndex, writer, send)
    else await streamCall(item, outputIndex, writer, send, holdMs)
    if (writer.gone) return
    send('response.output_item.done', { output_index: outputIndex, item })
  }
  send('response.completed', { response: responseOf(reply, 'completed') })
  writer.end()
}

/** The reply as one response object. */
export function responseOf(reply: WireReply, status: 'in_progress' | 'completed'): unknown {
  const usage = { input_tokens: reply.inputTokens, input_tokens_details: { cached_tokens: 0 }, output_tokens: reply.outputTokens, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: reply.inputTokens + reply.outputTokens }
  return { id: `resp_${reply.id}`, object: 'response', created_at: 0, status, model: reply.model, output: status === 'completed' ? itemsOf(reply) : [], ...(status === 'completed' ? { usage } : {}) }
}

type Send = (type: string, fields: Readonly<Record<string, unknown>>) => void
type CallItem = { readonly type: 'function_call'; readonly id: string; readonly call_id: string; readonly name: string; readonly arguments: string; readonly status: string }
type MessageItem = { readonly type: 'message'; readonly id: string; readonly role: 'assistant'; readonly status: string; readonly content: readonly unknown[] }

function itemsOf(reply: WireReply): readonly (CallItem | MessageItem)[] {
  const message: MessageItem = { type: 'message', id: `msg_${reply.id}`, role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: reply.text, annotations: [] }] }
  const calls = reply.calls.map((call, index): CallItem => ({ type: 'function_call', id: `fc_${reply.id}${index}`, call_id: call.id, name: call.tool, arguments: call.json, status: 'completed' }))
  return [...(reply.text === '' ? [] : [message]), ...calls]
}

async function streamMessage(text: string, itemId: string, outputIndex: number, writer: StreamWriter, send: Send): Promise<void> {
  const about = { item_id: itemId, output_index: outputIndex, content_index: 0 }
  send('response.output_item.added', { output_index: outputIndex, item: { type: 'message', id: itemId, role: 'assistant', status: 'in_progress', content: [] } })
  send('response.content_part.added', { ...about, part: { type: 'output_text', text: '', annotations: [] } })
  for (const piece of paced(text, 14)) {
    await writer.pause(piece.waitMs)
    send('response.output_text.delta', { ...about, delta: piece.text })
  }
  send('response.output_text.done', { ...about, text })
  send('response.content_part.done', { ...about, part: { type: 'output_text', text, annotations: [] } })
}

async function streamCall(item: CallItem, outputIndex: number, writer: StreamWriter, send: Send, holdMs: number): Promise<void> {
  send('response.output_item.added', { output_index: outputIndex, item: { ...item, arguments: '', status: 'in_progress' } })
  for (const piece of pacedArguments(item.name, item.arguments, holdMs)) {
    await writer.pause(piece.waitMs)
    if (writer.gone) return
    send('response.function_call_arguments.delta', { item_id: item.id, output_index: outputIndex, delta: piece.text })
  }
  send('response.function_call_arguments.done', { item_id: item.id, output_index: outputIndex, arguments: item.arguments })
}
