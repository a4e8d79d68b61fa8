// `npm run e2e [-- playwright arguments]`: drives the packaged app on a virtual screen, with no network but loopback. Needs `npm run package -- --inspectable`.
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { exitCodeOf } from '../runtime/run-command.ts'
import { ensureSystemPackages } from '../runtime/system-packages.ts'
import { openVirtualScreen } from '../runtime/virtual-screen.ts'
import { exitCodeWithoutNetwork } from './no-network.ts'
import { launcherFor } from './other-account.ts'

const root = resolve(import.meta.dirname, '../..')

async function endToEnd(playwrightArguments: readonly string[]): Promise<number> {
  const scratch = await mkdtemp(join(tmpdir(), 'countersign-e2e-'))
  await chmod(scratch, 0o755)
  const inspectable = await launcherFor(join(root, 'dist/inspectable/linux-unpacked'), join(scratch, 'inspectable'))
  const shipped = await launcherFor(join(root, 'dist/linux-unpacked'), join(scratch, 'shipped'))
  const screen = await openVirtualScreen()
  try {
    const env = {
      ...process.env,
      DISPLAY: screen.display,
      COUNTERSIGN_E2E_APP: inspectable.executable,
      COUNTERSIGN_E2E_SHIPPED_APP: shipped.executable,
      ...(inspectable.uid === null ? {} : { COUNTERSIGN_E2E_UID: String(inspectable.uid) }),
    }
    const cli = join(root, 'node_modules/@playwright/test/cli.js')
    return await exitCodeOf(process.execPath, [cli, 'test', '--config', 'e2e/playwright.config.ts', ...playwrightArguments], { cwd: root, env })
  } finally {
    await screen.close()
    await rm(scratch, { recursive: true, force: true })
  }
}

/** The whole suite, test runner and screen included, is started again where there is no network: what passes there needs none. */
async function start(): Promise<number> {
  const wanted = process.argv.slice(2)
  if (process.env['COUNTERSIGN_E2E_OFFLINE'] === '1') return endToEnd(wanted)
  await ensureSystemPackages(['window', 'display'])
  return exitCodeWithoutNetwork(process.execPath, [import.meta.filename, ...wanted], { cwd: root, env: { ...process.env, COUNTERSIGN_E2E_OFFLINE: '1' } })
}

process.exitCode = await start()
