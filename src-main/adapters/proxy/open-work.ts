import { failure } from '../../../src-preload/contract/failure.ts'
import type { AdmissionAsk, Clock, GatewayCallEnd, ToolPreview } from '../../engine/ports.ts'

interface OpenCall { readonly ask: AdmissionAsk; readonly since: number; admitted: boolean; end: GatewayCallEnd | null }

/** What the proxy process has in hand, so that its death can settle all of it: calls without an end and rows that still grow. */
export class OpenWork {
  readonly #clock: Clock
  readonly #calls = new Map<number, OpenCall>()
  readonly #growing = new Map<string, ToolPreview>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  asked(ask: AdmissionAsk): void {
    this.#calls.set(ask.callNumber, { ask, since: this.#clock.now(), admitted: false, end: null })
  }

  /** The decision for a call has been made. Returns the end that has come meanwhile, if any: its reservation must be settled with it. */
  decided(callNumber: number, admitted: boolean): GatewayCallEnd | null {
    const call = this.#calls.get(callNumber)
    if (call === undefined) return null
    call.admitted = admitted
    if (!admitted || call.end !== null) this.#calls.delete(callNumber)
    return admitted ? call.end : null
  }

  /** The proxy says that a call has ended. Returns the end to report now; null while the decision is still out. */
  ended(end: GatewayCallEnd): GatewayCallEnd | null {
    const call = this.#calls.get(end.callNumber)
    if (call === undefined || call.admitted) {
      this.#calls.delete(end.callNumber)
      return end
    }
    call.end = end
    return null
  }

  previewed(preview: ToolPreview): void {
    if (preview.state === 'growing') this.#growing.set(keyOf(preview), preview)
    else this.#growing.delete(keyOf(preview))
  }

  /** The process is gone: the ends of all admitted calls, and the last word on all rows that still grew. */
  lost(): { readonly ends: readonly GatewayCallEnd[]; readonly previews: readonly ToolPreview[] } {
    const now = this.#clock.now()
    const ends: GatewayCallEnd[] = []
    for (const call of this.#calls.values()) {
      const { callNumber, taskId, bot } = call.ask
      const end: GatewayCallEnd = {
        callNumber, taskId, bot, path: 'direct', status: null, modelAnswered: null, inputTokens: null, outputTokens: null, latencyMs: Math.max(0, now - call.since),
        failure: failure('proxy-failed', 'The model proxy ended in the middle of this call.', 'It is started again by itself. What the call cost is not known.'),
      }
      if (call.admitted) { ends.push(end); this.#calls.delete(callNumber) } else call.end ??= end
    }
    const previews = [...this.#growing.values()].map((preview) => ({ ...preview, state: 'interrupted' as const, seenAt: now }))
    this.#growing.clear()
    return { ends, previews }
  }
}

function keyOf(preview: ToolPreview): string {
  return `${preview.taskId} ${preview.callId}`
}
