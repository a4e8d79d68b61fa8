import { join } from 'node:path'
import type { Sandbox } from '../../engine/ports.ts'
import type { SandboxDeps } from './bubblewrap-sandbox.ts'
import { createSeatbeltSandbox } from './seatbelt-sandbox.ts'
import { writeStandIn } from './seatbelt-stand-in.suite.ts'

/** The macOS sandbox on the stand-in for sandbox-exec. Its folder has a name that must be quoted wherever it is written. */
export function seatbeltOnStandIn(deps: SandboxDeps, dir: string): Sandbox {
  return createSeatbeltSandbox({ ...deps, runRoot: join(dir, 'a "run\'s') }, { sandboxExec: writeStandIn(dir), asRoot: false })
}
