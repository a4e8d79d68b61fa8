import { z } from 'zod'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { wellFormed } from '../digest.ts'

export const leadBriefSchema = z.object({
  goal: z.string().min(1).max(2_000), scope: z.string().max(2_000).default(''), criteria: z.array(z.string().min(1).max(1_000)).max(20).default([]),
  testCommand: z.string().min(1).max(1_000), excerptIds: z.array(z.string().max(500)).max(8).default([]),
})
export const leadAnswerSchema = z.object({ answer: z.string().min(1).max(8_000).nullable(), why: z.string().max(2_000).default('') })
export const leadReviewSchema = z.object({ text: z.string().min(1).max(4_000), recommendation: z.enum(['accept', 'reject', 'unsure']) })

/** What one purpose of the lead must answer with. */
export type LeadSchema<T> = z.ZodType<T>

/**
 * Parses what the lead said. Accepts exactly one JSON object, bare or as the only fenced block (models add fences).
 * The error is a sentence for the corrective retry.
 */
export function parseLead<T>(schema: LeadSchema<T>, text: string): Result<T, string> {
  const trimmed = text.trim()
  const fence = /^```(?:json)?\s*\n([\s\S]*?)\n```$/.exec(trimmed)
  const body = fence?.[1] ?? trimmed
  let value: unknown
  try {
    // Escapes can name halves of a character that no text holds; they are replaced before anything is digested.
    value = JSON.parse(body, (_name, inner: unknown) => (typeof inner === 'string' ? wellFormed(inner) : inner))
  } catch {
    return err('it is not one JSON object.')
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return ok(parsed.data)
  const first = parsed.error.issues[0]
  return err(first === undefined ? 'it does not have the shape asked for.' : `"${first.path.join('.')}": ${first.message}.`)
}
