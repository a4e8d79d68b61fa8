// `npm run demo`: runs the sample task without a person and without a display, prints each step, and leaves pictures and the audit export in dist/demo/.
import { join, resolve } from 'node:path'
import { exitCodeOf } from '../runtime/run-command.ts'
import { ensureSystemPackages } from '../runtime/system-packages.ts'
import { packageIfOutdated } from './fresh-package.ts'
import { onVirtualScreen } from './packaged-screen.ts'

const root = resolve(import.meta.dirname, '../..')

async function demo(): Promise<number> {
  await ensureSystemPackages(['window', 'display'])
  await packageIfOutdated()
  return onVirtualScreen((env) => exitCodeOf(process.execPath, [join(root, 'e2e/demo.ts')], { cwd: root, env }))
}

process.exitCode = await demo()
