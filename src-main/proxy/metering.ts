import { countOf, listOf, recordOf, textOf } from '../core/preview/json-shape.ts'

/** What the vendor reports of a call. Null is unknown, never zero. */
export interface Metered { readonly modelAnswered: string | null; readonly inputTokens: number | null; readonly outputTokens: number | null }

/** More than any model takes or puts out in one call: a count above it is none. */
const tokensMax = 1_000_000_000

/**
 * Reads model and usage from a reply: from each event of a stream, or from the one JSON object of a reply that is not streamed. B2. What a stream
 * has put out is known from a report with its terminal frame or behind it, the last of them; one before that counts what has come so far,
 * and is not what a stream used that broke off, was cut or was left.
 * Sources: usage of https://platform.openai.com/docs/api-reference/chat/object and …/responses/object
 */
export class Meter {
  #model: string | null = null
  #input: number | null = null
  #output: number | null = null
  #soFar: number | null = null

  /** Takes the next event, or the whole reply; `ended`: the terminal frame has come, with this one or before it. */
  read(value: unknown, ended = true): void {
    const about = recordOf(value)
    const body = recordOf(about?.['response']) ?? about
    if (body === null) return
    this.#model = textOf(body['model'])?.slice(0, 200) ?? this.#model
    const usage = recordOf(body['usage'])
    if (usage === null) return
    this.#input = countIn(usage, 'prompt_tokens', 'input_tokens') ?? this.#input
    this.#soFar = countIn(usage, 'completion_tokens', 'output_tokens') ?? this.#soFar
    if (ended) this.#output = countIn(usage, 'completion_tokens', 'output_tokens') ?? this.#output
  }

  get metered(): Metered {
    return { modelAnswered: this.#model, inputTokens: known(this.#input), outputTokens: known(this.#output) }
  }

  /** How many tokens of output the vendor has counted up to now; null: it has said nothing of them. */
  get outputSoFar(): number | null {
    return known(this.#soFar)
  }
}

function countIn(usage: Readonly<Record<string, unknown>>, name: string, otherName: string): number | null {
  return countOf(usage[name]) ?? countOf(usage[otherName])
}

function known(count: number | null): number | null {
  return count === null || count > tokensMax ? null : count
}

/** The vendor's own words for an error, from an error reply or an error event; null if it has none. At most 500 characters. */
export function errorMessageOf(value: unknown): string | null {
  const about = recordOf(value) ?? recordOf(listOf(value)[0])
  const error = about?.['error'] ?? recordOf(about?.['response'])?.['error'] ?? about
  const message = typeof error === 'string' ? error : (textOf(recordOf(error)?.['message']) ?? textOf(recordOf(error)?.['detail']))
  return message === null ? null : message.slice(0, 500)
}
