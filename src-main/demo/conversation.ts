import { z } from 'zod'

/** A tool call that the model made earlier. `input` is its parsed arguments, or null when they were no JSON object. */
export interface PastCall { readonly id: string; readonly tool: string; readonly input: Readonly<Record<string, unknown>> | null }

export type Item =
  | { readonly is: 'user'; readonly text: string }
  | { readonly is: 'assistant'; readonly text: string; readonly calls: readonly PastCall[] }
  | { readonly is: 'result'; readonly callId: string; readonly text: string }

/** What a request says, whichever of the two APIs it came by. */
export interface Conversation {
  readonly model: string
  readonly stream: boolean
  readonly system: string
  readonly tools: ReadonlySet<string>
  readonly items: readonly Item[]
}

const contentSchema = z.union([z.string(), z.null(), z.array(z.looseObject({ text: z.string().optional() }))]).optional()
const toolsSchema = z.array(z.looseObject({ name: z.string().optional(), function: z.looseObject({ name: z.string() }).optional() })).default([])

/** Body of POST /v1/chat/completions, as far as the script needs it. */
export const chatRequestSchema = z.looseObject({
  model: z.string(), stream: z.boolean().default(false), tools: toolsSchema,
  messages: z.array(z.looseObject({
    role: z.string(), content: contentSchema, tool_call_id: z.string().optional(),
    tool_calls: z.array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) })).nullish(),
  })),
})

const inputItemSchema = z.looseObject({
  type: z.string().optional(), role: z.string().optional(), content: contentSchema,
  call_id: z.string().optional(), name: z.string().optional(), arguments: z.string().optional(), output: contentSchema,
})

/** Body of POST /v1/responses, as far as the script needs it. */
export const responsesRequestSchema = z.looseObject({
  model: z.string(), stream: z.boolean().default(false), tools: toolsSchema, instructions: z.string().nullish(),
  input: z.union([z.string().transform((content): z.infer<typeof inputItemSchema>[] => [{ role: 'user', content }]), z.array(inputItemSchema)]),
})

/** Reads a chat request as a conversation. */
export function chatConversation(body: z.infer<typeof chatRequestSchema>): Conversation {
  const system: string[] = []
  const items: Item[] = []
  for (const message of body.messages) {
    const text = textOf(message.content)
    if (message.role === 'system' || message.role === 'developer') system.push(text)
    else if (message.role === 'user') items.push({ is: 'user', text })
    else if (message.role === 'tool') items.push({ is: 'result', callId: message.tool_call_id ?? '', text })
    else if (message.role === 'assistant') {
      items.push({ is: 'assistant', text, calls: (message.tool_calls ?? []).map((call) => ({ id: call.id, tool: call.function.name, input: inputOf(call.function.arguments) })) })
    }
  }
  return { model: body.model, stream: body.stream, system: system.join('\n'), tools: toolNames(body.tools), items }
}

/** Reads a Responses request as a conversation; neighbouring assistant items are one message. */
export function responsesConversation(body: z.infer<typeof responsesRequestSchema>): Conversation {
  const system = [body.instructions ?? '']
  const items: Item[] = []
  const add = (text: string, calls: readonly PastCall[]): void => {
    const last = items.at(-1)
    if (last?.is === 'assistant') items[items.length - 1] = { is: 'assistant', text: last.text + text, calls: [...last.calls, ...calls] }
    else items.push({ is: 'assistant', text, calls })
  }
  for (const entry of body.input) {
    if (entry.type === 'function_call') add('', [{ id: entry.call_id ?? '', tool: entry.name ?? '', input: inputOf(entry.arguments ?? '') }])
    else if (entry.type === 'function_call_output') items.push({ is: 'result', callId: entry.call_id ?? '', text: textOf(entry.output) })
    else if (entry.role === 'system' || entry.role === 'developer') system.push(textOf(entry.content))
    else if (entry.role === 'user') items.push({ is: 'user', text: textOf(entry.content) })
    else if (entry.role === 'assistant') add(textOf(entry.content), [])
  }
  return { model: body.model, stream: body.stream, system: system.filter((text) => text !== '').join('\n'), tools: toolNames(body.tools), items }
}

function textOf(content: z.infer<typeof contentSchema>): string {
  if (typeof content === 'string') return content
  return (content ?? []).map((part) => part.text ?? '').join('\n')
}

function toolNames(tools: z.infer<typeof toolsSchema>): ReadonlySet<string> {
  return new Set(tools.map((tool) => tool.function?.name ?? tool.name ?? ''))
}

function inputOf(json: string): PastCall['input'] {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
