// `npm run e2e [-- playwright arguments]`: drives the packaged app on a virtual screen. Needs `npm run package -- --inspectable`.
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { exitCodeOf } from '../runtime/run-command.ts'
import { ensureSystemPackages } from '../runtime/system-packages.ts'
import { launcherFor } from './other-account.ts'
import { openVirtualScreen } from '../runtime/virtual-screen.ts'

const root = resolve(import.meta.dirname, '../..')

async function endToEnd(playwrightArguments: readonly string[]): Promise<number> {
  await ensureSystemPackages(['window', 'display'])
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

process.exitCode = await endToEnd(process.argv.slice(2))
