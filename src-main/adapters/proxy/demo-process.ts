import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { fromDemoSchema, type ToDemo } from '../../core/gateway/messages.ts'
import type { Timers } from '../../engine/ports.ts'
import type { Fork } from './child-port.ts'

export interface DemoProvider {
  /** Loopback port; the provider's base URL is `http://127.0.0.1:<port>/v1`. */
  readonly port: number
  /** Resolves when the process ends by itself or by `stop`. */
  readonly exited: Promise<{ readonly code: number | null }>
  stop(): Promise<void>
}

const readyWithinMs = 10_000

/** Starts the demo provider's process (at most 10 s). `holdMs`: COUNTERSIGN_DEMO_HOLD_MS, 0 for none. `preferredPort`: 0 for any. */
export function startDemoProvider(fork: Fork, options: { readonly holdMs: number; readonly preferredPort: number; readonly timers: Timers }): Promise<Result<DemoProvider, Failure>> {
  return new Promise((resolve) => {
    const bound = new AbortController()
    const child = fork((message) => {
      const ready = fromDemoSchema.safeParse(message)
      if (!ready.success) return
      bound.abort()
      resolve(ok({
        port: ready.data.port,
        exited: child.exited,
        stop: async () => {
          child.kill()
          await child.exited
        },
      }))
    })
    options.timers.after(readyWithinMs, bound.signal, () => child.kill())
    void child.exited.then(() => {
      bound.abort()
      resolve(err(failure('proxy-failed', 'The demo provider did not start.', 'Start the app again. If it stays, see the log folder.')))
    })
    child.post({ is: 'start', holdMs: options.holdMs, preferredPort: options.preferredPort } satisfies ToDemo)
  })
}
