// npm run soak -- [--kills N] [--seed S]: kills the packaged app again and again in real turns, and holds its journal against the simulator's laws.
import { join, resolve } from 'node:path'
import { packageIfOutdated } from '../checks/fresh-package.ts'
import { exitCodeWithoutNetwork } from '../checks/no-network.ts'
import { onVirtualScreen } from '../checks/packaged-screen.ts'
import { exitCodeOf } from '../runtime/run-command.ts'
import { ensureSystemPackages } from '../runtime/system-packages.ts'

const root = resolve(import.meta.dirname, '../..')
const wanted = process.argv.slice(2)

/** As the end-to-end suite: all of it is started again where there is no network but loopback. */
async function start(): Promise<number> {
  if (process.env['COUNTERSIGN_E2E_OFFLINE'] === '1') return onVirtualScreen((env) => exitCodeOf(process.execPath, [join(import.meta.dirname, 'kills.ts'), ...wanted], { cwd: root, env }))
  await ensureSystemPackages(['window', 'display'])
  await packageIfOutdated()
  return exitCodeWithoutNetwork(process.execPath, [import.meta.filename, ...wanted], { cwd: root, env: { ...process.env, COUNTERSIGN_E2E_OFFLINE: '1' } })
}

process.exitCode = await start()
