import type { Sandbox } from '../../engine/ports.ts'
import { createBubblewrapSandbox, type SandboxDeps } from './bubblewrap-sandbox.ts'
import { createSeatbeltSandbox } from './seatbelt-sandbox.ts'
import { unavailableSandbox } from './unavailable-sandbox.ts'

/** The `Sandbox` of a platform, as in `process.platform`. Only Linux has one that runs tasks; the others say why they do not. */
export function createSandbox(deps: SandboxDeps, platform: string): Sandbox {
  if (platform === 'linux') return createBubblewrapSandbox(deps)
  return platform === 'darwin' ? createSeatbeltSandbox(deps) : unavailableSandbox(platform, deps.clock)
}
