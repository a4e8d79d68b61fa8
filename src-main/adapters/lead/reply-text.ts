import { z } from 'zod'

const chatEventSchema = z.object({
  choices: z.array(z.object({
    delta: z.object({ content: z.string().nullish() }).nullish(), message: z.object({ content: z.string().nullish() }).nullish(), finish_reason: z.string().nullish(),
  })),
})
const responseSchema = z.object({ output: z.array(z.object({ type: z.string(), content: z.array(z.object({ type: z.string(), text: z.string().optional() })).optional() })) })
const responsesEventSchema = z.object({ type: z.string(), delta: z.string().optional(), response: responseSchema.partial().optional() })
const errorSchema = z.union([
  z.object({ error: z.object({ message: z.string(), code: z.union([z.string(), z.number()]).nullish() }) }),
  z.object({ response: z.object({ error: z.object({ message: z.string(), code: z.string().nullish() }) }) }),
  z.object({ type: z.literal('error'), message: z.string(), code: z.string().nullish() }),
])

/** What one event of a stream, or a whole JSON reply, adds. `end`: the model says that it is done. */
export type TextStep = { readonly is: 'text'; readonly text: string } | { readonly is: 'end' } | { readonly is: 'error'; readonly code: string | null; readonly message: string } | { readonly is: 'other' }

/** The vendor's or the proxy's own words for an error, or null if there are none. */
export function errorOf(value: unknown): { readonly code: string | null; readonly message: string } | null {
  const parsed = errorSchema.safeParse(value)
  if (!parsed.success) return null
  const error = 'error' in parsed.data ? parsed.data.error : 'response' in parsed.data ? parsed.data.response.error : parsed.data
  return { code: error.code == null ? null : String(error.code), message: error.message.slice(0, 1_000) }
}

/** Reads one event of a stream; one event can both add text and end. */
export function stepsOf(api: 'chat' | 'responses', value: unknown): readonly TextStep[] {
  const error = errorOf(value)
  if (error !== null) return [{ is: 'error', ...error }]
  if (api === 'chat') {
    const choice = chatEventSchema.safeParse(value).data?.choices[0]
    const text = choice?.delta?.content
    return [...(text ? [{ is: 'text' as const, text }] : []), ...(choice?.finish_reason ? [{ is: 'end' as const }] : [])]
  }
  const event = responsesEventSchema.safeParse(value).data
  if (event?.type === 'response.output_text.delta') return event.delta === undefined ? [] : [{ is: 'text', text: event.delta }]
  return event?.type === 'response.completed' || event?.type === 'response.incomplete' ? [{ is: 'end' }] : []
}

/** The text of a reply that came as one JSON object; null if it has none. */
export function wholeText(api: 'chat' | 'responses', value: unknown): string | null {
  if (api === 'chat') return chatEventSchema.safeParse(value).data?.choices[0]?.message?.content ?? null
  const output = responseSchema.safeParse(value).data?.output
  const texts = output?.filter((item) => item.type === 'message').flatMap((item) => item.content ?? []).flatMap((part) => (part.type === 'output_text' ? [part.text ?? ''] : []))
  return texts === undefined || texts.length === 0 ? null : texts.join('')
}
