import type { CallReader, CallStep } from './call-step.ts'
import { countOf, listOf, recordOf, textOf } from './json-shape.ts'

interface OpenCall { readonly key: string; callId: string | null }

/**
 * Tool calls in chunks of a chat completion: `choices[].delta.tool_calls[]` with `index`, `id`, `function.name`,
 * `function.arguments`; id and name usually come in the first piece only. A vendor that leaves `index` out, or gives
 * every call the index 0, is told apart by a change of id.
 * Source: https://platform.openai.com/docs/api-reference/chat-streaming
 */
export class ChatCallReader implements CallReader {
  readonly #open = new Map<string, OpenCall>()
  #last: string | null = null
  #made = 0

  read(event: unknown): readonly CallStep[] {
    const steps: CallStep[] = []
    for (const [position, entry] of listOf(recordOf(event)?.['choices']).entries()) {
      const choice = recordOf(entry)
      if (choice === null) continue
      const choiceIndex = countOf(choice['index']) ?? position
      for (const piece of listOf(recordOf(choice['delta'])?.['tool_calls'])) this.#readPiece(choiceIndex, piece, steps)
      if (textOf(choice['finish_reason']) !== null) steps.push({ is: 'all-ended' })
    }
    return steps
  }

  #readPiece(choiceIndex: number, value: unknown, steps: CallStep[]): void {
    const piece = recordOf(value)
    if (piece === null) return
    const about = recordOf(piece['function'])
    const callId = textOf(piece['id'])
    const tool = textOf(about?.['name'])
    const call = this.#callOf(choiceIndex, countOf(piece['index']), callId, steps)
    if (callId !== null || tool !== null) steps.push({ is: 'seen', key: call.key, callId, tool })
    const text = textOf(about?.['arguments'])
    if (text !== null) steps.push({ is: 'arguments', key: call.key, text })
    // Some gateways hand on an object where the API wants its text.
    const whole = recordOf(about?.['arguments'])
    if (whole !== null) steps.push({ is: 'whole', key: call.key, text: JSON.stringify(whole) })
  }

  #callOf(choiceIndex: number, index: number | null, callId: string | null, steps: CallStep[]): OpenCall {
    const slot = index !== null ? `${choiceIndex}:${index}` : callId !== null ? `${choiceIndex}:id:${callId}` : (this.#last ?? `${choiceIndex}:0`)
    this.#last = slot
    const known = this.#open.get(slot)
    if (known !== undefined && (callId === null || known.callId === null || known.callId === callId)) {
      known.callId ??= callId
      return known
    }
    if (known !== undefined) steps.push({ is: 'ended', key: known.key })
    const call = { key: `call-${this.#made++}`, callId }
    this.#open.set(slot, call)
    steps.push({ is: 'seen', key: call.key, callId, tool: null })
    return call
  }
}
