import { failure } from '../../src-preload/contract/failure.ts'
import { err, ok } from '../../src-preload/contract/result.ts'
import type { ModelDirectory } from '../engine/ports.ts'

/** Where the demo provider listens now; null while it is not up. */
export interface DemoAddress { port: number | null; stop?: () => Promise<void> }

/** The directory with the demo's real address: its port is another one at each start. */
export function demoAware(directory: ModelDirectory, demo: DemoAddress): ModelDirectory {
  return {
    resolve: (ref) => {
      const target = directory.resolve(ref)
      if (!target.ok || !target.value.demo) return target
      if (demo.port === null) return err(failure('provider-unreachable', 'The built-in demo model is still starting.', 'Try again in a moment; if it stays, restart the app.'))
      return ok({ ...target.value, baseUrl: `http://127.0.0.1:${demo.port}/v1` })
    },
  }
}
