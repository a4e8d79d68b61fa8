import type { CallReader, CallStep } from './call-step.ts'
import { countOf, recordOf, textOf } from './json-shape.ts'

/**
 * Tool calls in events of the Responses API: `response.output_item.added` names the call, `…function_call_arguments.delta`
 * grows it, `….done` and `response.output_item.done` end it. Events belong together by `output_index`, or by the item's
 * id where a gateway leaves the index out.
 * Source: https://platform.openai.com/docs/api-reference/responses-streaming
 */
export class ResponsesCallReader implements CallReader {
  readonly #keys = new Map<string, string>()
  #made = 0

  read(event: unknown): readonly CallStep[] {
    const about = recordOf(event)
    switch (about?.['type']) {
      case 'response.output_item.added':
      case 'response.output_item.done': return this.#readItem(about, about['type'] === 'response.output_item.done')
      case 'response.function_call_arguments.delta': return this.#readArguments(about, 'arguments', about['delta'])
      case 'response.function_call_arguments.done': return [...this.#readArguments(about, 'whole', about['arguments']), ...this.#end(about)]
      case 'response.completed':
      case 'response.incomplete': return [{ is: 'all-ended' }]
      default: return []
    }
  }

  #readItem(about: Readonly<Record<string, unknown>>, done: boolean): readonly CallStep[] {
    const item = recordOf(about['item'])
    if (item?.['type'] !== 'function_call') return []
    const key = this.#keyOf(countOf(about['output_index']), textOf(item['id']))
    const steps: CallStep[] = [{ is: 'seen', key, callId: textOf(item['call_id']) ?? textOf(item['id']), tool: textOf(item['name']) }]
    const text = textOf(item['arguments'])
    if (text !== null) steps.push({ is: done ? 'whole' : 'arguments', key, text })
    if (done) steps.push({ is: 'ended', key })
    return steps
  }

  #readArguments(about: Readonly<Record<string, unknown>>, is: 'arguments' | 'whole', value: unknown): readonly CallStep[] {
    const text = textOf(value)
    return text === null ? [] : [{ is, key: this.#keyOf(countOf(about['output_index']), textOf(about['item_id'])), text }]
  }

  #end(about: Readonly<Record<string, unknown>>): readonly CallStep[] {
    return [{ is: 'ended', key: this.#keyOf(countOf(about['output_index']), textOf(about['item_id'])) }]
  }

  /** The two names of a call point to one key, whichever comes first. */
  #keyOf(outputIndex: number | null, itemId: string | null): string {
    const names = [outputIndex === null ? null : `index:${outputIndex}`, itemId === null ? null : `item:${itemId}`].filter((name) => name !== null)
    const key = names.map((name) => this.#keys.get(name)).find((known) => known !== undefined) ?? `call-${this.#made++}`
    for (const name of names) if (!this.#keys.has(name)) this.#keys.set(name, key)
    return key
  }
}
