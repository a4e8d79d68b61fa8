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

/**
 * The wire tap of one stream: reads copies of its events and says how each tool call grows: at once when the call is first
 * seen, when its target becomes known and when it ends, else at most once in 8 ms a call. When something in here breaks,
 * the previews of this stream are lost and nothing else.
 */
export class Tap {
  readonly #deps: TapDeps
  #previews: StreamPreviews | null = null
  readonly #sentAt = new Map<string, number>()
  readonly #waiting = new Set<string>()
  #cancelTimer: (() => void) | null = null
  #broken = false

  constructor(deps: TapDeps) {
    this.#deps = deps
  }

  /** Takes the next parsed event of the stream. */
  read(event: unknown): void {
    this.#guard(() => {
      this.#previews ??= new StreamPreviews(this.#deps.api)
      this.#offer(this.#previews.accept(event))
    })
  }

  /** The stream is over; calls that still grow are settled as interrupted. */
  end(): void {
    const previews = this.#previews
    if (previews === null) return
    this.#guard(() => {
      this.#offer(previews.interrupt())
      this.#flush()
    })
  }

  #offer(changed: readonly ChangedCall[]): void {
    const now = this.#deps.time.now()
    for (const { key, urgent } of changed) {
      const since = now - (this.#sentAt.get(key) ?? -Infinity)
      if (urgent || since >= proxyLimits.previewPaceMs || since < 0) this.#send(key, now)
      else this.#waiting.add(key)
    }
    if (this.#waiting.size === 0 || this.#cancelTimer !== null) return
    this.#cancelTimer = this.#deps.time.after(proxyLimits.previewPaceMs, () => {
      this.#cancelTimer = null
      this.#guard(() => this.#flush())
    })
  }

  #flush(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    for (const key of [...this.#waiting]) this.#send(key, this.#deps.time.now())
  }

  #send(key: string, now: number): void {
    this.#waiting.delete(key)
    const preview = this.#previews?.preview(key) ?? null
    const callId = callIdSchema.safeParse(preview?.callId)
    if (preview === null || !callId.success) return
    this.#sentAt.set(key, now)
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
