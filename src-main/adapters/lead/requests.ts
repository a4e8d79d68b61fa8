import type { Lead } from '../../engine/ports.ts'

export type LeadTurn = Parameters<Lead['ask']>[0]

/** The one request of a lead's turn: streamed, never with tools. */
export function requestOf(turn: LeadTurn): { readonly path: string; readonly body: string } {
  if (turn.api === 'chat') {
    return {
      path: '/v1/chat/completions',
      body: JSON.stringify({ model: turn.modelId, stream: true, stream_options: { include_usage: true }, messages: [{ role: 'system', content: turn.system }, ...turn.messages] }),
    }
  }
  const input = turn.messages.map(({ role, content }) => ({ type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text: content }] }))
  return { path: '/v1/responses', body: JSON.stringify({ model: turn.modelId, stream: true, store: false, instructions: turn.system, input }) }
}
