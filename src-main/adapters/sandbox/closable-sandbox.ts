import { failure } from '../../../src-preload/contract/failure.ts'
import { err } from '../../../src-preload/contract/result.ts'
import type { Clock, Sandbox } from '../../engine/ports.ts'

/** A sandbox that the app can leave behind with nobody in it. */
export interface ClosableSandbox extends Sandbox {
  /**
   * Starts nothing more, and resolves when nothing is being started or run any more; whoever runs must be stopped by its owner. Without it
   * an app that ends while bwrap sets up leaves its first process waiting for a parent that is gone, until the next start sweeps it up.
   */
  close(): Promise<void>
}

/** Adds `close` to a sandbox. After it, launches and runs fail with `cancelled`, and a probe says that the app is ending. */
export function closable(sandbox: Sandbox, clock: Clock): ClosableSandbox {
  const open = new Set<Promise<unknown>>()
  let closed = false
  const why = failure('cancelled', 'The app is ending.', 'Start the app again.')
  const follow = <T>(work: Promise<T>): Promise<T> => {
    open.add(work)
    const forget = (): void => { open.delete(work) }
    work.then(forget, forget)
    return work
  }
  return {
    probe: () => (closed ? Promise.resolve({ usable: false, level: 'none', summary: why.message, detail: why.todo, checkedAt: clock.now(), failure: why }) : follow(sandbox.probe())),
    places: (at) => sandbox.places(at),
    launch: (spec, signal) => (closed ? Promise.resolve(err(why)) : follow(sandbox.launch(spec, signal))),
    run: (spec, signal) => (closed ? Promise.resolve(err(why)) : follow(sandbox.run(spec, signal))),
    endOrphans: (recorded) => sandbox.endOrphans(recorded),
    close: async () => {
      closed = true
      await Promise.allSettled(open)
    },
  }
}
