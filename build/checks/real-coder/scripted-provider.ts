import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { z } from 'zod'

/** What the scripted model does at one request of a turn. `gate` holds a tool's arguments half-way until the test opens it. */
export interface Step {
  readonly reasoning?: string
  readonly text?: string
  readonly tools?: readonly { readonly name: string; readonly args: unknown; readonly raw?: string; readonly gate?: string }[]
  readonly refuse?: { readonly status: number; readonly body: unknown }
  readonly finish?: string
}
export interface SeenRequest { readonly path: string; readonly authorization: string | undefined; readonly sessionId: string | undefined; readonly model: string; readonly system: string; readonly tools: readonly string[] }

export interface ScriptedProvider {
  readonly requests: readonly SeenRequest[]
  /** Tool calls whose arguments have reached their gate. */
  readonly held: ReadonlySet<string>
  openGate(name: string): void
  close(): Promise<void>
}

const contentSchema = z.union([z.string(), z.null(), z.array(z.looseObject({ text: z.string().optional() }))]).optional()
const itemSchema = z.looseObject({ role: z.string().optional(), type: z.string().optional(), content: contentSchema })
const bodySchema = z.looseObject({ model: z.string(), messages: z.array(itemSchema).optional(), input: z.array(itemSchema).optional(), instructions: z.string().nullish(), tools: z.array(z.looseObject({ name: z.string().optional(), function: z.looseObject({ name: z.string() }).optional() })).default([]) })
type Item = z.infer<typeof itemSchema>

/** The words of a turn: the steps that the model takes, one a request, after a sentence for the reader. */
export function prompt(...steps: readonly Step[]): string {
  return `Do as the script says. @@${Buffer.from(JSON.stringify(steps)).toString('base64')}@@`
}

/** A provider on a Unix socket that plays what the user's last message says, on both wire APIs. */
export async function startScriptedProvider(socketPath: string): Promise<ScriptedProvider> {
  const requests: SeenRequest[] = []
  const held = new Set<string>()
  const gates = new Map<string, () => void>()
  const wait = (name: string, response: ServerResponse): Promise<void> => new Promise((resolve) => { held.add(name); gates.set(name, resolve); response.on('close', resolve) })
  const server = createServer((request, response) => {
    answer(request, response, requests, wait).catch((cause: unknown) => { response.destroy(cause instanceof Error ? cause : new Error(String(cause))) })
  })
  await new Promise<void>((resolve) => { server.listen(socketPath, resolve) })
  return {
    requests, held,
    openGate(name) { gates.get(name)?.() },
    async close() { server.closeAllConnections(); await new Promise((resolve) => { server.close(resolve) }) },
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, requests: SeenRequest[], wait: (name: string, response: ServerResponse) => Promise<void>): Promise<void> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk)
  const body = bodySchema.parse(JSON.parse(text))
  const items = body.messages ?? body.input ?? []
  const path = request.url ?? ''
  requests.push({
    path, authorization: request.headers.authorization, sessionId: request.headers['x-session-id']?.toString(), model: body.model, tools: body.tools.map((tool) => tool.function?.name ?? tool.name ?? ''),
    system: [body.instructions ?? '', ...items.filter(({ role }) => role === 'system' || role === 'developer').map(({ content }) => textOf(content))].join('\n'),
  })
  const step = nextStep(items)
  if (step.refuse !== undefined) {
    response.writeHead(step.refuse.status, { 'content-type': 'application/json' }).end(JSON.stringify(step.refuse.body))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const call = requests.length
  if (path.endsWith('/responses')) await playResponses(step, call, body.model, response, wait)
  else await playChat(step, call, body.model, response, wait)
  response.end()
}

function nextStep(items: readonly Item[]): Step {
  const last = items.findLastIndex(({ role }) => role === 'user')
  const script = /@@([^@]+)@@/.exec(textOf(items[last]?.content))?.[1]
  if (script === undefined) return { text: 'There is no script.' }
  const steps = JSON.parse(Buffer.from(script, 'base64').toString('utf8')) as Step[]
  const ours = items.slice(last + 1).map(({ role, type }) => role === 'assistant' || type === 'function_call')
  // The Responses API tells one answer as several items, one after the other.
  const answered = ours.filter((own, at) => own && ours[at - 1] !== true).length
  return steps[answered] ?? { text: 'The script is over.' }
}

function textOf(content: z.infer<typeof contentSchema>): string {
  return typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('\n')
}

function pieces(text: string): readonly string[] {
  return text.match(/[\s\S]{1,12}/g) ?? []
}

type Wait = (name: string, response: ServerResponse) => Promise<void>

async function playChat(step: Step, call: number, model: string, response: ServerResponse, wait: Wait): Promise<void> {
  const send = (delta: unknown, finish: string | null = null, more: object = {}): void => { response.write(`data: ${JSON.stringify({ id: `c${call}`, object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`) }
  send({ role: 'assistant', content: '' })
  for (const piece of pieces(step.reasoning ?? '')) send({ reasoning_content: piece })
  for (const piece of pieces(step.text ?? '')) send({ content: piece })
  for (const [index, tool] of (step.tools ?? []).entries()) {
    const whole = tool.raw ?? JSON.stringify(tool.args)
    const half = Math.floor(whole.length / 2)
    const args = (text: string): void => { for (const piece of pieces(text)) send({ tool_calls: [{ index, function: { arguments: piece } }] }) }
    send({ tool_calls: [{ index, id: `call_${call}_${index}`, type: 'function', function: { name: tool.name, arguments: '' } }] })
    args(whole.slice(0, half))
    if (tool.gate !== undefined) await wait(tool.gate, response)
    args(whole.slice(half))
  }
  send({}, step.finish ?? (step.tools === undefined ? 'stop' : 'tool_calls'))
  response.write(`data: ${JSON.stringify({ id: `c${call}`, object: 'chat.completion.chunk', created: 1, model, choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })}\n\ndata: [DONE]\n\n`)
}

async function playResponses(step: Step, call: number, model: string, response: ServerResponse, wait: Wait): Promise<void> {
  let sequence = 0
  let index = 0
  const output: unknown[] = []
  const send = (type: string, fields: object): void => { response.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: (sequence += 1), ...fields })}\n\n`) }
  const frame = { id: `resp_${call}`, object: 'response', created_at: 1, model, output: [] }
  send('response.created', { response: { ...frame, status: 'in_progress' } })
  if (step.text !== undefined) {
    const id = `msg_${call}`
    send('response.output_item.added', { output_index: index, item: { type: 'message', id, role: 'assistant', status: 'in_progress', content: [] } })
    send('response.content_part.added', { item_id: id, output_index: index, content_index: 0, part: { type: 'output_text', text: '', annotations: [] } })
    for (const delta of pieces(step.text)) send('response.output_text.delta', { item_id: id, output_index: index, content_index: 0, delta })
    const item = { type: 'message', id, role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: step.text, annotations: [] }] }
    output.push(item)
    send('response.output_item.done', { output_index: index, item })
    index += 1
  }
  for (const [at, tool] of (step.tools ?? []).entries()) {
    const item = { type: 'function_call', id: `fc_${call}_${at}`, call_id: `call_${call}_${at}`, name: tool.name }
    const whole = tool.raw ?? JSON.stringify(tool.args)
    const half = Math.floor(whole.length / 2)
    const args = (text: string): void => { for (const delta of pieces(text)) send('response.function_call_arguments.delta', { item_id: item.id, output_index: index, delta }) }
    send('response.output_item.added', { output_index: index, item: { ...item, arguments: '', status: 'in_progress' } })
    args(whole.slice(0, half))
    if (tool.gate !== undefined) await wait(tool.gate, response)
    args(whole.slice(half))
    send('response.function_call_arguments.done', { item_id: item.id, output_index: index, arguments: whole })
    output.push({ ...item, arguments: whole, status: 'completed' })
    send('response.output_item.done', { output_index: index, item: { ...item, arguments: whole, status: 'completed' } })
    index += 1
  }
  send('response.completed', { response: { ...frame, status: 'completed', output, usage: { input_tokens: 10, input_tokens_details: { cached_tokens: 0 }, output_tokens: 5, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 15 } } })
}
