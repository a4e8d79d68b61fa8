import { join, resolve } from 'node:path'
import { exitCodeOf } from '../runtime/run-command.ts'
import { ensureSystemPackages } from '../runtime/system-packages.ts'
import { packageIfOutdated } from './fresh-package.ts'
import { onVirtualScreen } from './packaged-screen.ts'

const root = resolve(import.meta.dirname, '../..')

/** Runs a script of e2e/ that drives the packaged app, which is made first where it is missing or older than its sources. Gives the script's exit code. */
export async function runOnThePackage(script: string): Promise<number> {
  await ensureSystemPackages(['window', 'display'])
  await packageIfOutdated()
  return onVirtualScreen((env) => exitCodeOf(process.execPath, [join(root, 'e2e', script)], { cwd: root, env }))
}
