import { paced, pacedArguments } from './pace.ts'
import type { StreamWriter } from './stream-writer.ts'
import type { WireReply } from './wire-reply.ts'

/** Streams a reply as chat completion chunks, usage in the last one. Source: https://platform.openai.com/docs/api-reference/chat-streaming */
export async function streamChat(reply: WireReply, writer: StreamWriter, holdMs: number): Promise<void> {
  const base = { id: `chatcmpl-${reply.id}`, object: 'chat.completion.chunk', created: 0, model: reply.model }
  const send = (delta: unknown, finishReason: string | null = null): void => writer.write(`data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`)
  send({ role: 'assistant', content: '' })
  for (const piece of paced(reply.text, 14)) {
    await writer.pause(piece.waitMs)
    send({ content: piece.text })
  }
  for (const [index, call] of reply.calls.entries()) {
    send({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.tool, arguments: '' } }] })
    for (const piece of pacedArguments(call.tool, call.json, holdMs)) {
      await writer.pause(piece.waitMs)
      if (writer.gone) return
      send({ tool_calls: [{ index, function: { arguments: piece.text } }] })
    }
  }
  send({}, finishReasonOf(reply))
  writer.write(`data: ${JSON.stringify({ ...base, choices: [], usage: usageOf(reply) })}\n\ndata: [DONE]\n\n`)
  writer.end()
}

/** The reply as one chat completion. */
export function chatBody(reply: WireReply): unknown {
  const toolCalls = reply.calls.map((call) => ({ id: call.id, type: 'function', function: { name: call.tool, arguments: call.json } }))
  return {
    id: `chatcmpl-${reply.id}`, object: 'chat.completion', created: 0, model: reply.model, usage: usageOf(reply),
    choices: [{ index: 0, finish_reason: finishReasonOf(reply), message: { role: 'assistant', content: reply.text, ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}) } }],
  }
}

function finishReasonOf(reply: WireReply): string {
  return reply.calls.length > 0 ? 'tool_calls' : 'stop'
}

function usageOf(reply: WireReply): unknown {
  return { prompt_tokens: reply.inputTokens, completion_tokens: reply.outputTokens, total_tokens: reply.inputTokens + reply.outputTokens }
}
