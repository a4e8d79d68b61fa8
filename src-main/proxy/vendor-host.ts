import type { VendorOrder, VendorWord } from '../core/gateway/vendor.ts'

/** One run of the vendor's program. `stop` ends its whole tree; idempotent. The last word comes all the same. */
export interface VendorJob { stop(): void }

/**
 * Runs the vendor's own program for the fallbacks. The proxy starts no process itself: in the app it asks over the parent port,
 * and main runs the program in a sandbox; alone (countersign-proxy) it is a plain child, and the operator is told so.
 */
export interface VendorHost {
  /** Starts what is ordered. `onWord` gets `up` (serve only, at most once), then exactly one `ended`; never before `start` has returned. */
  start(order: VendorOrder, onWord: (word: VendorWord) => void): VendorJob
}

