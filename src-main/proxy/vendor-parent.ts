import { failure } from '../../src-preload/contract/failure.ts'
import type { FromProxy } from '../core/gateway/messages.ts'
import type { VendorWord } from '../core/gateway/vendor.ts'
import type { VendorHost } from './vendor-host.ts'

/** The vendor's program in the app: asked for over the parent port, run by main in a sandbox. */
export class ParentVendorHost implements VendorHost {
  readonly #post: (message: FromProxy) => void
  readonly #vendorId: () => string
  readonly #jobs = new Map<number, (word: VendorWord) => void>()
  #jobId = 0

  /** `vendorId`: the program that the owner's rules name now. */
  constructor(post: (message: FromProxy) => void, vendorId: () => string) {
    this.#post = post
    this.#vendorId = vendorId
  }

  /** Job ids go up from there. Main may still speak of a job of the process before this one: those ids are not used again. */
  begin(firstJobId: number): void {
    this.#jobId = firstJobId
  }

  start(order: Parameters<VendorHost['start']>[0], onWord: (word: VendorWord) => void): ReturnType<VendorHost['start']> {
    const jobId = ++this.#jobId
    this.#jobs.set(jobId, onWord)
    this.#post({ is: 'vendor-ask', jobId, order, vendorId: this.#vendorId() })
    return { stop: () => { if (this.#jobs.has(jobId)) this.#post({ is: 'vendor-stop', jobId }) } }
  }

  /** Takes main's word on a job; one of a job that has ended is dropped. */
  take(jobId: number, word: VendorWord): void {
    const onWord = this.#jobs.get(jobId)
    if (word.is === 'ended') this.#jobs.delete(jobId)
    onWord?.(word)
  }

  /** Main's words come no more: what runs is its alone from here on. */
  close(): void {
    for (const jobId of [...this.#jobs.keys()]) this.take(jobId, { is: 'ended', exitCode: null, text: '', failure: failure('unavailable', 'The model proxy was stopped.', 'Start the app again.') })
  }
}

