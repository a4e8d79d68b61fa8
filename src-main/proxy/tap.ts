import { callIdSchema, type TaskId } from '../../src-preload/contract/ids.ts'
import { StreamPreviews, type ChangedCall } from '../core/preview/stream-previews.ts'
import type { FromProxy } from '../core/gateway/messages.ts'
import { proxyLimits } from './proxy-limits.ts'
import type { Time } from './time.ts'

export type Preview = Extract<FromProxy, { is: 'preview' }>['preview']

interface TapDeps {
  readonly api: 'chat' | 'responses'
  readonly taskId: TaskId
  readonly sessionId: string | null
  readonly time: Time
  readonly emit: (preview: Preview) => void
  readonly onBroken: (error: unknown) => void
}

/** The calls of a stream; made with its first event, since most replies of a call have none. */
interface Growing { readonly previews: StreamPreviews; readonly sentAt: Map<string, number>; readonly waiting: Set<string> }

/**
 * The wire tap of one stream: reads copies of its events and says how each tool call grows: at once when the call is first
 * seen, when its target becomes known and when it ends, else at most once in 8 ms a call. When something in here breaks,
 * the previews of this stream are lost and nothing else.
 */
export class Tap {
  readonly #deps: TapDeps
  #growing: Growing | null = null
  #cancelTimer: (() => void) | null = null
  #broken = false

  constructor(deps: TapDeps) {
    this.#deps = deps
  }

  /** Takes the next parsed event of the stream. */
  read(event: unknown): void {
    this.#guard(() => {
      this.#growing ??= { previews: new StreamPreviews(this.#deps.api), sentAt: new Map(), waiting: new Set() }
      this.#offer(this.#growing, this.#growing.previews.accept(event))
    })
  }

  /** The stream is over; calls that still grow are settled as interrupted. */
  end(): void {
    const growing = this.#growing
    if (growing === null) return
    this.#guard(() => {
      this.#offer(growing, growing.previews.interrupt())
      this.#flush(growing)
    })
  }

  #offer(growing: Growing, changed: readonly ChangedCall[]): void {
    const now = this.#deps.time.now()
    for (const { key, urgent } of changed) {
      const since = now - (growing.sentAt.get(key) ?? -Infinity)
      if (urgent || since >= proxyLimits.previewPaceMs || since < 0) this.#send(growing, key, now)
      else growing.waiting.add(key)
    }
    if (growing.waiting.size === 0 || this.#cancelTimer !== null) return
    this.#cancelTimer = this.#deps.time.after(proxyLimits.previewPaceMs, () => {
      this.#cancelTimer = null
      this.#guard(() => this.#flush(growing))
    })
  }

  #flush(growing: Growing): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    for (const key of [...growing.waiting]) this.#send(growing, key, this.#deps.time.now())
  }

  #send({ previews, sentAt, waiting }: Growing, key: string, now: number): void {
    waiting.delete(key)
    const preview = previews.preview(key)
    const callId = callIdSchema.safeParse(preview?.callId)
    if (preview === null || !callId.success) return
    sentAt.set(key, now)
    const { taskId, sessionId } = this.#deps
    this.#deps.emit({ ...preview, taskId, sessionId, callId: callId.data, seenAt: now })
  }

  #guard(run: () => void): void {
    if (this.#broken) return
    try {
      run()
    } catch (error) {
      this.#broken = true
      this.#cancelTimer?.()
      this.#deps.onBroken(error)
    }
  }
}
