import type { FromProxy } from '../core/gateway/messages.ts'
import type { Time } from './time.ts'
import type { VendorHost } from './vendor-host.ts'

/** What has begun and not ended: calls that were let through, and runs of the vendor's program. Who stops the proxy waits for them. */
export class OpenEnds {
  readonly #open = new Set<unknown>()
  #onNone: () => void = () => undefined

  begun(one: unknown): void {
    this.#open.add(one)
  }

  ended(one: unknown): void {
    if (this.#open.delete(one) && this.#open.size === 0) this.#onNone()
  }

  /** `post`, and a call whose end it tells is open no more. */
  ofCalls(post: (message: FromProxy) => void): (message: FromProxy) => void {
    return (message) => {
      post(message)
      if (message.is === 'call-ended') this.ended(message.end.callNumber)
    }
  }

  /** `host`, with each of its runs counted here until its last word is said. */
  ofRuns(host: VendorHost): VendorHost {
    return {
      start: (order, onWord) => {
        const job = host.start(order, (word) => {
          onWord(word)
          if (word.is === 'ended') this.ended(job)
        })
        this.begun(job)
        return job
      },
    }
  }

  /** Resolves true once nothing is open, false when that takes longer than `ms`. */
  whenNone(time: Time, ms: number): Promise<boolean> {
    if (this.#open.size === 0) return Promise.resolve(true)
    return new Promise((resolve) => {
      const cancel = time.after(ms, () => { resolve(false) })
      this.#onNone = () => { cancel(); resolve(true) }
    })
  }
}
