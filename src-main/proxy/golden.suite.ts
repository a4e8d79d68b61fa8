/** Streams as vendors send them, written from their public documentation. Each names the calls that its bytes contain. */
export interface Golden {
  readonly name: string
  readonly api: 'chat' | 'responses'
  readonly text: string
  readonly calls: readonly { readonly callId: string; readonly tool: string; readonly json: string }[]
  readonly usage: { readonly inputTokens: number | null; readonly outputTokens: number | null }
  readonly model: string | null
}

export const write = { callId: 'call_w', tool: 'write', json: JSON.stringify({ filePath: '/workspace/größe.ts', content: 'const n = "ü😀"\n\tx \\ "y"\u2028\n' }) }
export const bash = { callId: 'call_b', tool: 'bash', json: JSON.stringify({ command: 'bun test', description: 'tests' }) }

export function pieces(text: string, chars: number): string[] {
  return Array.from({ length: Math.ceil(text.length / chars) }, (_unused, index) => text.slice(index * chars, (index + 1) * chars))
}

function chunk(delta: unknown, finish: string | null = null, more: object = {}): string {
  return JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm-1-2026', choices: [{ index: 0, delta, finish_reason: finish }], ...more })
}

export function frames(events: readonly string[], end = '\n\n', name?: (event: string) => string): string {
  return events.map((event) => `${name === undefined ? '' : `event: ${name(event)}${end.slice(0, end.length / 2)}`}data: ${event}${end}`).join('')
}

const usage = JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'm-1-2026', choices: [], usage: { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 } })

const openAiEvents = [
  chunk({ role: 'assistant', content: '' }), chunk({ content: 'I wríte ' }),
  chunk({ tool_calls: [{ index: 0, id: write.callId, type: 'function', function: { name: 'write', arguments: '' } }] }),
  ...pieces(write.json, 11).map((text) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
  chunk({ tool_calls: [{ index: 1, id: bash.callId, type: 'function', function: { name: 'bash', arguments: '' } }] }),
  ...pieces(bash.json, 9).map((text) => chunk({ tool_calls: [{ index: 1, function: { arguments: text } }] })),
  chunk({}, 'tool_calls'), usage, '[DONE]',
]

const interleaved = [
  chunk({ tool_calls: [{ index: 0, id: write.callId, type: 'function', function: { name: 'write' } }, { index: 1, id: bash.callId, type: 'function', function: { name: 'bash' } }] }),
  ...pieces(write.json, 7).flatMap((text, at) => [chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] }), ...(pieces(bash.json, 7)[at] === undefined ? [] : [chunk({ tool_calls: [{ index: 1, function: { arguments: pieces(bash.json, 7)[at] } }] })])]),
  chunk({}, 'tool_calls'), '[DONE]',
]

/** A gateway that counts every call as index 0 and tells them apart by id only. */
const sameIndex = [
  ...pieces(write.json, 20).map((text) => chunk({ tool_calls: [{ index: 0, id: write.callId, type: 'function', function: { name: 'write', arguments: text } }] })),
  chunk({ tool_calls: [{ index: 0, id: bash.callId, type: 'function', function: { name: 'bash', arguments: bash.json } }] }), chunk({}, 'tool_calls'),
]

function responsesEvents(): string[] {
  const events: object[] = [{ type: 'response.created', response: { id: 'r1', model: 'm-1-2026', status: 'in_progress' } }]
  const added = (index: number, call: typeof write): object => ({ type: 'response.output_item.added', output_index: index, item: { type: 'function_call', id: `fc_${index}`, call_id: call.callId, name: call.tool, arguments: '' } })
  const delta = (index: number, text: string): object => ({ type: 'response.function_call_arguments.delta', item_id: `fc_${index}`, output_index: index, delta: text })
  const done = (index: number, call: typeof write): object[] => [
    { type: 'response.function_call_arguments.done', item_id: `fc_${index}`, output_index: index, arguments: call.json },
    { type: 'response.output_item.done', output_index: index, item: { type: 'function_call', id: `fc_${index}`, call_id: call.callId, name: call.tool, arguments: call.json } },
  ]
  events.push(added(0, write), added(1, bash))
  for (const [at, text] of pieces(write.json, 13).entries()) {
    events.push(delta(0, text))
    const other = pieces(bash.json, 13)[at]
    if (other !== undefined) events.push(delta(1, other))
  }
  events.push(...done(0, write), ...done(1, bash), { type: 'response.completed', response: { id: 'r1', model: 'm-1-2026', status: 'completed', usage: { input_tokens: 11, output_tokens: 5 } } })
  return events.map((event, index) => JSON.stringify({ sequence_number: index, ...event }))
}

const typeOf = (event: string): string => (JSON.parse(event) as { type: string }).type
const known = { inputTokens: 11, outputTokens: 5 }
const unknown = { inputTokens: null, outputTokens: null }
const both = [write, bash]

export const plainGoldens: readonly Golden[] = [
  { name: 'OpenAI chat', api: 'chat', text: frames(openAiEvents), calls: both, usage: known, model: 'm-1-2026' },
  { name: 'chat with CRLF', api: 'chat', text: frames(openAiEvents, '\r\n\r\n'), calls: both, usage: known, model: 'm-1-2026' },
  { name: 'chat with keep-alive comments (OpenRouter)', api: 'chat', text: openAiEvents.map((event) => `: OPENROUTER PROCESSING\n\ndata: ${event}\n\n`).join(''), calls: both, usage: known, model: 'm-1-2026' },
  { name: 'chat with a filter event first (Azure)', api: 'chat', text: frames([JSON.stringify({ choices: [], created: 0, id: '', model: '', prompt_filter_results: [{ prompt_index: 0 }] }), ...openAiEvents]), calls: both, usage: known, model: 'm-1-2026' },
  { name: 'chat without a blank behind data: (vLLM behind a gateway), no [DONE]', api: 'chat', text: openAiEvents.slice(0, -1).map((event) => `data:${event}\n\n`).join(''), calls: both, usage: known, model: 'm-1-2026' },
  { name: 'interleaved parallel calls, no usage', api: 'chat', text: frames(interleaved), calls: both, usage: unknown, model: 'm-1-2026' },
  { name: 'whole calls in one chunk (Ollama)', api: 'chat', text: frames([chunk({ role: 'assistant', content: '', tool_calls: both.map((call, index) => ({ index, id: call.callId, type: 'function', function: { name: call.tool, arguments: call.json } })) }), chunk({}, 'tool_calls'), '[DONE]']), calls: both, usage: unknown, model: 'm-1-2026' },
  { name: 'every call with index 0 and its id repeated', api: 'chat', text: frames(sameIndex), calls: both, usage: unknown, model: 'm-1-2026' },
  { name: 'no blank line behind [DONE]', api: 'chat', text: frames(openAiEvents).slice(0, -2), calls: both, usage: known, model: 'm-1-2026' },
  { name: 'OpenAI responses', api: 'responses', text: frames(responsesEvents(), '\n\n', typeOf), calls: both, usage: known, model: 'm-1-2026' },
  { name: 'responses with CRLF and without event names', api: 'responses', text: frames(responsesEvents(), '\r\n\r\n'), calls: both, usage: known, model: 'm-1-2026' },
]
