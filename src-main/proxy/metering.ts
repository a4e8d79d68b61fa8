import { countOf, listOf, recordOf, textOf } from '../core/preview/json-shape.ts'

/** What the vendor reports of a call. Null is unknown, never zero. */
export interface Metered { readonly modelAnswered: string | null; readonly inputTokens: number | null; readonly outputTokens: number | null }

/**
 * Reads model and usage from a reply: from each event of a stream, or from the one JSON object of a reply that is not
 * streamed. The last report counts.
 * Sources: usage of https://platform.openai.com/docs/api-reference/chat/object and …/responses/object
 */
export class Meter {
  #model: string | null = null
  #input: number | null = null
  #output: number | null = null

  read(value: unknown): void {
    const about = recordOf(value)
    const body = recordOf(about?.['response']) ?? about
    if (body === null) return
    this.#model = textOf(body['model'])?.slice(0, 200) ?? this.#model
    const usage = recordOf(body['usage'])
    if (usage === null) return
    this.#input = countOf(usage['prompt_tokens']) ?? countOf(usage['input_tokens']) ?? this.#input
    this.#output = countOf(usage['completion_tokens']) ?? countOf(usage['output_tokens']) ?? this.#output
  }

  get metered(): Metered {
    return { modelAnswered: this.#model, inputTokens: this.#input, outputTokens: this.#output }
  }
}

/** The vendor's own words for an error, from an error reply or an error event; null if it has none. At most 500 characters. */
export function errorMessageOf(value: unknown): string | null {
  const about = recordOf(value) ?? recordOf(listOf(value)[0])
  const error = about?.['error'] ?? recordOf(about?.['response'])?.['error'] ?? about
  const message = typeof error === 'string' ? error : (textOf(recordOf(error)?.['message']) ?? textOf(recordOf(error)?.['detail']))
  return message === null ? null : message.slice(0, 500)
}
