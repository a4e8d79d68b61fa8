import { bash, frames, pieces, plainGoldens, write, type Golden } from './golden.suite.ts'

/*
 * Streams in the manner of the vendors and gateways that people use, written by us from their public documentation and issue trackers:
 * what differs from one to the other is what has broken readers before.
 */

const both = [write, bash]

function chunk(choice: object, more: object = {}): string {
  return JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm-1-2026', choices: [{ index: 0, ...choice }], ...more })
}
const usage = { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 }

/** The two calls piece by piece, as `wrap` writes a piece: `first` marks the one that names the call. */
function callPieces(chars: number, wrap: (call: typeof write, at: number, text: string, first: boolean) => string): string[] {
  return both.flatMap((call, at) => ['', ...pieces(call.json, chars)].map((text, index) => wrap(call, at, text, index === 0)))
}
const delta = (at: number, call: typeof write, text: string, first: boolean): object => ({ tool_calls: [{ index: at, ...(first ? { id: call.callId, type: 'function' } : {}), function: { ...(first ? { name: call.tool } : {}), arguments: text } }] })

/** llama.cpp's server: timings in every chunk, usage in the one that has the finish reason. */
const llamaCpp = [
  chunk({ finish_reason: null, delta: { role: 'assistant', content: null } }), chunk({ finish_reason: null, delta: { reasoning_content: 'Ich übe' } }, { system_fingerprint: 'b9554', timings: { predicted_n: 1 } }),
  ...callPieces(9, (call, at, text, first) => chunk({ finish_reason: null, delta: delta(at, call, text, first) }, { timings: { predicted_n: 2, predicted_per_second: 39.5 } })),
  chunk({ finish_reason: 'tool_calls', delta: {} }, { usage, timings: { predicted_n: 5 } }), '[DONE]',
]

/** vLLM: running usage in every chunk (`continuous_usage_stats`), the total in a chunk without choices. */
const vllm = [
  chunk({ delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }, { usage: { prompt_tokens: 11, total_tokens: 11, completion_tokens: 0 } }),
  ...callPieces(13, (call, at, text, first) => chunk({ delta: delta(at, call, text, first), logprobs: null, finish_reason: null }, { usage: { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 } })),
  chunk({ delta: { content: '' }, logprobs: null, finish_reason: 'tool_calls', stop_reason: null }, { usage }), JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm-1-2026', choices: [], usage }), '[DONE]',
]

/** A gateway that counts in its first chunk, as Anthropic's format does, and again in its last: the first number is not what the stream used. */
const usageFirst = [
  chunk({ delta: { role: 'assistant', content: '' }, finish_reason: null }, { usage: { prompt_tokens: 11, completion_tokens: 1, total_tokens: 12 } }),
  ...callPieces(13, (call, at, text, first) => chunk({ delta: delta(at, call, text, first), finish_reason: null })), chunk({ delta: {}, finish_reason: 'tool_calls' }, { usage: { completion_tokens: 5 } }), '[DONE]',
]

/** One that counts in its first chunk alone: what it used is not known. */
const usageFirstOnly = [
  chunk({ delta: { role: 'assistant', content: '' }, finish_reason: null }, { usage: { prompt_tokens: 11, completion_tokens: 0, total_tokens: 11 } }),
  ...callPieces(13, (call, at, text, first) => chunk({ delta: delta(at, call, text, first), finish_reason: null })), chunk({ delta: {}, finish_reason: 'tool_calls' }), '[DONE]',
]

/** Azure: the prompt's filter first, filters in each choice, and of the asynchronous filter chunks that have no delta at all. */
const filter = { hate: { filtered: false, severity: 'safe' }, violence: { filtered: false, severity: 'safe' } }
const azure = [
  JSON.stringify({ choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [{ prompt_index: 0, content_filter_results: filter }] }),
  chunk({ delta: { role: 'assistant', content: null, refusal: null }, content_filter_results: {}, finish_reason: null, logprobs: null }, { system_fingerprint: 'fp_1' }),
  ...callPieces(12, (call, at, text, first) => chunk({ delta: delta(at, call, text, first), content_filter_results: filter, finish_reason: null, logprobs: null }, { obfuscation: 'x1' })),
  JSON.stringify({ id: '', object: '', created: 0, model: '', choices: [{ index: 0, finish_reason: null, content_filter_results: filter, content_filter_offsets: { check_offset: 44, start_offset: 44, end_offset: 198 } }] }),
  chunk({ delta: {}, content_filter_results: filter, finish_reason: 'tool_calls', logprobs: null }), JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm-1-2026', choices: [], usage }), '[DONE]',
]

/** OpenRouter: comments between any two events, its own fields, the cost within the usage. */
const openRouter = [
  chunk({ delta: { role: 'assistant', content: '' }, finish_reason: null, native_finish_reason: null, logprobs: null }, { provider: 'P' }),
  ...callPieces(17, (call, at, text, first) => chunk({ delta: { role: 'assistant', content: null, ...delta(at, call, text, first) }, finish_reason: null, native_finish_reason: null }, { provider: 'P' })),
  chunk({ delta: { role: 'assistant', content: '' }, finish_reason: 'tool_calls', native_finish_reason: 'tool_use' }, { provider: 'P' }),
  JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm-1-2026', provider: 'P', choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }], usage: { ...usage, cost: 0.0012, cost_details: { upstream_inference_cost: null } } }), '[DONE]',
]

/** Ollama before it had an index: whole calls, told apart by id alone, and the finish reason of a plain answer. */
const ollama = [
  chunk({ delta: { role: 'assistant', content: '', tool_calls: [{ id: write.callId, type: 'function', function: { name: write.tool, arguments: write.json } }] }, finish_reason: null }, { system_fingerprint: 'fp_ollama' }),
  chunk({ delta: { role: 'assistant', content: '', tool_calls: [{ id: bash.callId, type: 'function', function: { name: bash.tool, arguments: bash.json } }] }, finish_reason: null }, { system_fingerprint: 'fp_ollama' }),
  chunk({ delta: { role: 'assistant', content: '' }, finish_reason: 'stop' }, { system_fingerprint: 'fp_ollama' }), '[DONE]',
]

/** A gateway before an Anthropic-compatible vendor: another id in each chunk, the index of the content block, an empty name and the type in each piece, text beside a call. */
let made = 0
const fresh = (text: string): string => text.replace('"id":"c1"', `"id":"c${made++}"`)
const anthropicGateway = [
  fresh(chunk({ delta: { role: 'assistant', content: 'Ich schreibe ' } })), fresh(chunk({ delta: { content: 'jetzt.', tool_calls: [{ index: 1, id: write.callId, type: 'function', function: { name: write.tool, arguments: '' } }] } })),
  ...pieces(write.json, 10).map((text) => fresh(chunk({ delta: { content: '', tool_calls: [{ index: 1, id: null, type: 'function', function: { name: '', arguments: text } }] } }))),
  fresh(chunk({ delta: { tool_calls: [{ index: 2, id: bash.callId, type: 'function', function: { name: bash.tool, arguments: '' } }] } })),
  ...pieces(bash.json, 10).map((text) => fresh(chunk({ delta: { tool_calls: [{ index: 2, type: 'function', function: { name: null, arguments: text } }] } }))),
  fresh(chunk({ delta: {}, finish_reason: 'tool_calls' })), JSON.stringify({ id: 'c1', model: 'm-1-2026', choices: [], usage: { ...usage, prompt_tokens_details: { cached_tokens: 0 }, cache_creation_input_tokens: 0 } }), '[DONE]',
]

/** A gateway that hands arguments on as an object instead of its text. */
const asObjects = [
  chunk({ delta: { role: 'assistant', content: null, tool_calls: both.map((call, index) => ({ index, id: call.callId, type: 'function', function: { name: call.tool, arguments: JSON.parse(call.json) as unknown } })) }, finish_reason: null }), chunk({ delta: {}, finish_reason: 'tool_calls' }), '[DONE]',
]

/** Mistral: whole calls, the finish reason and the usage in one chunk. */
const mistral = [
  chunk({ delta: { role: 'assistant', content: '' }, finish_reason: null }),
  chunk({ delta: { content: '', tool_calls: both.map((call, index) => ({ id: call.callId, function: { name: call.tool, arguments: call.json }, index })) }, finish_reason: 'tool_calls' }, { usage }), '[DONE]',
]

/** DeepSeek: reasoning first, keep-alive comments, usage beside the finish reason. */
const deepSeek = [
  chunk({ delta: { role: 'assistant', content: null, reasoning_content: '' }, logprobs: null, finish_reason: null }), chunk({ delta: { content: null, reasoning_content: 'Erst 思考' }, finish_reason: null }),
  ...callPieces(8, (call, at, text, first) => chunk({ delta: delta(at, call, text, first), logprobs: null, finish_reason: null })), chunk({ delta: { content: '' }, finish_reason: 'tool_calls' }, { usage: { ...usage, prompt_cache_hit_tokens: 0 } }), '[DONE]',
]

/** The Responses API with reasoning and text before the calls; a gateway leaves the output index out. */
function responses(withIndex: boolean): string[] {
  const at = (index: number): object => (withIndex ? { output_index: index } : {})
  const events: object[] = [
    { type: 'response.created', response: { id: 'r1', model: 'm-1-2026', status: 'in_progress' } }, { type: 'response.in_progress', response: { id: 'r1', model: 'm-1-2026', status: 'in_progress' } },
    { type: 'response.output_item.added', ...at(0), item: { type: 'reasoning', id: 'rs_1', summary: [] } }, { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', ...at(0), summary_index: 0, delta: 'Größer? 思' },
    { type: 'response.output_item.done', ...at(0), item: { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Größer? 思' }] } },
    { type: 'response.output_item.added', ...at(1), item: { type: 'message', id: 'msg_1', role: 'assistant', content: [] } }, { type: 'response.output_text.delta', item_id: 'msg_1', ...at(1), content_index: 0, delta: 'I write', obfuscation: 'zz' },
    { type: 'response.output_text.done', item_id: 'msg_1', ...at(1), content_index: 0, text: 'I write' }, { type: 'response.output_item.done', ...at(1), item: { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'I write' }] } },
  ]
  for (const [index, call] of both.entries()) {
    const item = { type: 'function_call', id: `fc_${index}`, call_id: call.callId, name: call.tool }
    events.push({ type: 'response.output_item.added', ...at(index + 2), item: { ...item, arguments: '', status: 'in_progress' } })
    for (const text of pieces(call.json, 14)) events.push({ type: 'response.function_call_arguments.delta', item_id: item.id, ...at(index + 2), delta: text })
    events.push({ type: 'response.function_call_arguments.done', item_id: item.id, ...at(index + 2), arguments: call.json }, { type: 'response.output_item.done', ...at(index + 2), item: { ...item, arguments: call.json, status: 'completed' } })
  }
  events.push({ type: 'response.completed', response: { id: 'r1', model: 'm-1-2026', status: 'completed', usage: { input_tokens: 11, input_tokens_details: { cached_tokens: 0 }, output_tokens: 5, output_tokens_details: { reasoning_tokens: 2 }, total_tokens: 16 } } })
  return events.map((event, index) => JSON.stringify({ ...event, sequence_number: index }))
}

const known = { inputTokens: 11, outputTokens: 5 }
const unknown = { inputTokens: null, outputTokens: null }
const model = 'm-1-2026'
const named = (event: string): string => (JSON.parse(event) as { type: string }).type
const chat = (name: string, text: string, counted: Golden['usage'] = known): Golden => ({ name, api: 'chat', text, calls: both, usage: counted, model })

const dialects: readonly Golden[] = [
  chat('llama.cpp', frames(llamaCpp)), chat('vLLM with running usage', frames(vllm)), chat('usage in the first and the last chunk', frames(usageFirst)), chat('usage in the first chunk alone', frames(usageFirstOnly), { inputTokens: 11, outputTokens: null }),
  chat('Azure with both filters', frames(azure)),
  chat('OpenRouter with comments anywhere', openRouter.map((event, index) => `${index % 3 === 0 ? ': OPENROUTER PROCESSING\n\n' : ''}data: ${event}\n${index % 5 === 0 ? ':\n' : ''}\n`).join('')),
  chat('Ollama without an index', frames(ollama), unknown), chat('a gateway before an Anthropic-compatible vendor', frames(anthropicGateway)), chat('arguments as objects', frames(asObjects), unknown),
  chat('Mistral, all in one chunk', frames(mistral)), chat('DeepSeek with keep-alives', `: keep-alive\n\n: keep-alive\n\n${frames(deepSeek)}`),
  chat('every field of the format, a byte order mark, CRLF', `\ufeff:\r\nretry: 3000\r\n\r\n${llamaCpp.map((event, index) => `event: message\r\nid: ${index}\r\ndata: ${event}\r\n\r\n`).join('')}`),
  chat('mixed line ends', vllm.map((event, index) => `data: ${event}${['\n\n', '\r\n\r\n', '\n\r\n'][index % 3] ?? ''}`).join('')),
  { name: 'responses with reasoning and text', api: 'responses', text: frames(responses(true), '\n\n', named), calls: both, usage: known, model },
  { name: 'responses without an output index, behind a gateway with comments', api: 'responses', text: responses(false).map((event) => `: ping\n\nevent: ${named(event)}\ndata: ${event}\n\n`).join(''), calls: both, usage: known, model },
  { name: 'responses with [DONE] behind', api: 'responses', text: `${frames(responses(true), '\r\n\r\n', named)}data: [DONE]\r\n\r\n`, calls: both, usage: known, model },
]

/** The whole corpus. */
export const goldens: readonly Golden[] = [...plainGoldens, ...dialects]
