import type { z } from 'zod'
import type { admissionSchema, FromProxy } from '../core/gateway/messages.ts'
import { proxyLimits } from './proxy-limits.ts'
import type { Time } from './time.ts'

export type Admission = z.infer<typeof admissionSchema>
export type AdmissionAsk = Extract<FromProxy, { is: 'admission-ask' }>['ask']

/** Asks the app before each call leaves; the app reserves in its journal and answers. */
export class AdmissionDesk {
  readonly #post: (ask: AdmissionAsk) => void
  readonly #time: Time
  readonly #waiting = new Map<number, (admission: Admission | null) => void>()
  /** The call that is being asked about, and the answer if it came within the asking. */
  #asking: number | null = null
  #atOnce: Admission | null = null

  constructor(post: (ask: AdmissionAsk) => void, time: Time) {
    this.#post = post
    this.#time = time
  }

  /** The app's answer; null when none came within a minute. Nothing leaves without one. Alone, it is there at once, and nobody waits a turn for it. */
  ask(ask: AdmissionAsk): Admission | Promise<Admission | null> {
    this.#asking = ask.callNumber
    this.#atOnce = null
    this.#post(ask)
    this.#asking = null
    const atOnce = this.#atOnce as Admission | null
    if (atOnce !== null) return atOnce
    return new Promise((resolve) => {
      const cancel = this.#time.after(proxyLimits.admissionMs, () => this.#settle(ask.callNumber, null))
      this.#waiting.set(ask.callNumber, (admission) => {
        cancel()
        resolve(admission)
      })
    })
  }

  /** Takes an answer. False: nobody waits for it any more, and it is dropped. */
  answer(callNumber: number, admission: Admission): boolean {
    if (callNumber !== this.#asking) return this.#settle(callNumber, admission)
    this.#atOnce ??= admission
    return true
  }

  #settle(callNumber: number, admission: Admission | null): boolean {
    const resolve = this.#waiting.get(callNumber)
    this.#waiting.delete(callNumber)
    resolve?.(admission)
    return resolve !== undefined
  }
}
