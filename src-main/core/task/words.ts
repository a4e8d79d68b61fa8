import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { Brief } from '../../../src-preload/contract/task.ts'
import { canonicalJson, isWellFormed, utf8Bytes, wellFormed } from '../digest.ts'
import { payloadSchemas, type EnvelopePayload } from '../envelope/schema.ts'

/** UTF-8 bytes of a text as it stands in an envelope, escapes counted: a control character takes six. */
export function jsonBytes(text: string): number {
  return utf8Bytes(canonicalJson(wellFormed(text))) - 2
}

/** A model's text cut to what an envelope takes: at most `charsMax` UTF-16 units and `bytesMax` bytes as JSON, never through a character, never empty. */
export function clip(text: string, charsMax: number, bytesMax: number): string {
  const whole = text.trim() === '' ? '(no text)' : wellFormed(text)
  let kept = headOf(whole, charsMax)
  while (jsonBytes(kept) > bytesMax) kept = headOf(kept, Math.floor(kept.length * Math.min(0.95, bytesMax / jsonBytes(kept))))
  return kept
}

/** The first `charsMax` UTF-16 units, less one where that would split a character. */
function headOf(text: string, charsMax: number): string {
  const head = text.slice(0, charsMax)
  return isWellFormed(head) ? head : head.slice(0, -1)
}

/** Whether every text in `value` can be written as UTF-8, and so shown, digested and approved as what it is. */
export function allWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return isWellFormed(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every(allWellFormed)
}

/** A brief with every text well-formed: what is digested is what is journaled. */
export function tidyBrief(brief: Brief): Brief {
  return {
    goal: wellFormed(brief.goal), scope: wellFormed(brief.scope), criteria: brief.criteria.map(wellFormed), testCommand: wellFormed(brief.testCommand),
    excerpts: brief.excerpts.map(({ id, content }) => ({ id: wellFormed(id), content: wellFormed(content) })),
  }
}

/** Whether a request may go out as an envelope; else which field does not fit, in words. `bytesMax`: of the canonical payload. */
export function checkRequest(payload: EnvelopePayload['request'], bytesMax: number): Result<null, string> {
  const checked = payloadSchemas.request.safeParse(payload)
  if (!checked.success) return err(`"${checked.error.issues[0]?.path.map(String).join('.') ?? 'brief'}" does not fit.`)
  const bytes = utf8Bytes(canonicalJson(payload))
  return bytes > bytesMax ? err(`The requirement and the brief together are ${String(bytes)} bytes; at most ${String(bytesMax)} fit.`) : ok(null)
}
