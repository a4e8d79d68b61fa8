// `npm run e2e [-- playwright arguments]`: drives the packaged app on a virtual screen, with no network but loopback. Needs `npm run package -- --inspectable`.
import { join, resolve } from 'node:path'
import { exitCodeOf } from '../runtime/run-command.ts'
import { ensureSystemPackages } from '../runtime/system-packages.ts'
import { exitCodeWithoutNetwork } from './no-network.ts'
import { onVirtualScreen } from './packaged-screen.ts'

const root = resolve(import.meta.dirname, '../..')

async function endToEnd(playwrightArguments: readonly string[]): Promise<number> {
  const cli = join(root, 'node_modules/@playwright/test/cli.js')
  return onVirtualScreen((env) => exitCodeOf(process.execPath, [cli, 'test', '--config', 'e2e/playwright.config.ts', ...playwrightArguments], { cwd: root, env }))
}

/** The whole suite, test runner and screen included, is started again where there is no network: what passes there needs none. */
async function start(): Promise<number> {
  const wanted = process.argv.slice(2)
  if (process.env['COUNTERSIGN_E2E_OFFLINE'] === '1') return endToEnd(wanted)
  await ensureSystemPackages(['window', 'display'])
  return exitCodeWithoutNetwork(process.execPath, [import.meta.filename, ...wanted], { cwd: root, env: { ...process.env, COUNTERSIGN_E2E_OFFLINE: '1' } })
}

process.exitCode = await start()
