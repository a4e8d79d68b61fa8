import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn, setTimeout as after } from 'node:timers/promises'
import type { CallStep, Dressed, TextStep } from './step.ts'

const pieceChars = 48
const usage = { input: 120, output: 30 }

/** What happens at the middle of a reply; gives false when the reply ends there. */
export type AtHalf = () => Promise<boolean>

/** How one of the two wire APIs says things. */
interface Wire {
  readonly begin: () => string
  readonly textBegin: () => string
  readonly text: (piece: string) => string
  readonly textEnd: () => string
  readonly callBegin: () => string
  readonly argument: (piece: string) => string
  readonly callEnd: () => string
  /** Another whole call, under the same id where it has none of its own. */
  readonly twin: (tool: string, json: string, id?: string) => string
  readonly end: () => string
}

/** Streams a reply. `onArgument` is called right before a piece of a call's arguments is handed to the socket, with how many characters will have been sent then. */
export async function stream(api: 'chat' | 'responses', reply: Dressed, step: CallStep | TextStep, response: ServerResponse, atHalf: AtHalf, onArgument: (chars: number) => void): Promise<void> {
  const wire = api === 'chat' ? chatWire(reply) : responsesWire(reply)
  if (step.is === 'call' && step.thinksMs !== undefined) await after(step.thinksMs)
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  response.write(wire.begin())
  if (reply.text !== '') {
    response.write(wire.textBegin())
    if (!await pieces(reply.text, response, wire.text, step.is === 'text' ? atHalf : goOn, nextTurn, () => undefined)) return
    response.write(wire.textEnd())
  }
  if (reply.call !== null) {
    response.write(wire.callBegin())
    const paceMs = step.is === 'call' ? step.paceMs : undefined
    if (!await pieces(reply.call.json, response, wire.argument, atHalf, paceMs === undefined ? nextTurn : () => after(paceMs), onArgument)) return
    response.write(wire.callEnd())
    if (step.is === 'call' && step.twin !== undefined) response.write(wire.twin(step.twin.tool, JSON.stringify(step.twin.input), step.twin.id))
  }
  response.end(wire.end())
}

const goOn: AtHalf = () => Promise.resolve(true)

async function pieces(text: string, response: ServerResponse, frame: (piece: string) => string, atHalf: AtHalf, pace: () => Promise<unknown>, onPiece: (chars: number) => void): Promise<boolean> {
  const units = [...text]
  const half = Math.floor(units.length / 2)
  let halved = false
  for (let at = 0; at < units.length; at += pieceChars) {
    if (!halved && at >= half) {
      halved = true
      if (!await atHalf()) return false
    }
    if (response.destroyed) return false
    const piece = units.slice(at, at + pieceChars)
    onPiece(at + piece.length)
    response.write(frame(piece.join('')))
    // Each piece is a write of its own, as a model's stream is.
    await pace()
  }
  return true
}

/** Source: https://platform.openai.com/docs/api-reference/chat-streaming */
function chatWire(reply: Dressed): Wire {
  const base = { id: `chatcmpl-${reply.id}`, object: 'chat.completion.chunk', created: 0, model: reply.model }
  const chunk = (delta: unknown, finish: string | null = null): string => `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  return {
    begin: () => chunk({ role: 'assistant', content: '' }),
    textBegin: () => '', text: (content) => chunk({ content }), textEnd: () => '',
    callBegin: () => chunk({ tool_calls: [{ index: 0, id: reply.call?.id, type: 'function', function: { name: reply.call?.tool, arguments: '' } }] }),
    argument: (piece) => chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] }), callEnd: () => '',
    twin: (tool, json, id) => chunk({ tool_calls: [{ index: 1, id: id ?? reply.call?.id, type: 'function', function: { name: tool, arguments: json } }] }),
    end: () => `${chunk({}, reply.call === null ? 'stop' : 'tool_calls')}data: ${JSON.stringify({ ...base, choices: [], usage: { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output } })}\n\ndata: [DONE]\n\n`,
  }
}

/** Source: https://platform.openai.com/docs/api-reference/responses-streaming */
function responsesWire(reply: Dressed): Wire {
  let sequence = 0
  const event = (type: string, fields: Readonly<Record<string, unknown>>): string => `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...fields })}\n\n`
  const [message, call] = itemsOf(reply)
  const textAt = { item_id: message?.id, output_index: 0, content_index: 0 }
  const callAt = { item_id: call?.id, output_index: reply.text === '' ? 0 : 1 }
  return {
    begin: () => event('response.created', { response: responsesBody(reply, 'in_progress') }),
    textBegin: () => event('response.output_item.added', { output_index: 0, item: { ...message, status: 'in_progress', content: [] } }) + event('response.content_part.added', { ...textAt, part: { type: 'output_text', text: '', annotations: [] } }),
    text: (delta) => event('response.output_text.delta', { ...textAt, delta }),
    textEnd: () => event('response.output_text.done', { ...textAt, text: reply.text }) + event('response.output_item.done', { output_index: 0, item: message }),
    callBegin: () => event('response.output_item.added', { output_index: callAt.output_index, item: { ...call, status: 'in_progress', arguments: '' } }),
    argument: (delta) => event('response.function_call_arguments.delta', { ...callAt, delta }),
    callEnd: () => event('response.function_call_arguments.done', { ...callAt, arguments: reply.call?.json }) + event('response.output_item.done', { output_index: callAt.output_index, item: call }),
    twin: () => { throw new Error('two calls of one reply are told over chat only') },
    end: () => event('response.completed', { response: responsesBody(reply, 'completed') }),
  }
}

/** The reply as one JSON body, for a request that does not stream. */
export function wholeBody(api: 'chat' | 'responses', reply: Dressed): unknown {
  if (api === 'responses') return responsesBody(reply, 'completed')
  const calls = reply.call === null ? {} : { tool_calls: [{ id: reply.call.id, type: 'function', function: { name: reply.call.tool, arguments: reply.call.json } }] }
  return {
    id: `chatcmpl-${reply.id}`, object: 'chat.completion', created: 0, model: reply.model, usage: { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output },
    choices: [{ index: 0, finish_reason: reply.call === null ? 'stop' : 'tool_calls', message: { role: 'assistant', content: reply.text, ...calls } }],
  }
}

function responsesBody(reply: Dressed, status: 'in_progress' | 'completed'): unknown {
  const done = status === 'completed'
  const counted = { usage: { input_tokens: usage.input, input_tokens_details: { cached_tokens: 0 }, output_tokens: usage.output, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: usage.input + usage.output } }
  return { id: `resp_${reply.id}`, object: 'response', created_at: 0, status, model: reply.model, output: done ? itemsOf(reply).filter((item) => item !== null) : [], ...(done ? counted : {}) }
}

interface Item { readonly id: string; readonly [field: string]: unknown }

function itemsOf(reply: Dressed): readonly [Item | null, Item | null] {
  const message = reply.text === '' ? null : { type: 'message', id: `msg_${reply.id}`, role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: reply.text, annotations: [] }] }
  const call = reply.call === null ? null : { type: 'function_call', id: `fc_${reply.id}`, call_id: reply.call.id, name: reply.call.tool, arguments: reply.call.json, status: 'completed' }
  return [message, call]
}
