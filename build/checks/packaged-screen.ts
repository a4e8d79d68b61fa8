import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openVirtualScreen } from '../runtime/virtual-screen.ts'
import { launcherFor } from './other-account.ts'

const root = resolve(import.meta.dirname, '../..')

/**
 * Gives `work` the environment in which e2e/ drives the packaged app: a virtual screen, the executables to start and the account that they
 * run as. Needs `npm run package -- --inspectable`. Everything is taken down when `work` has ended.
 */
export async function onVirtualScreen<T>(work: (env: NodeJS.ProcessEnv) => Promise<T>): Promise<T> {
  const scratch = await mkdtemp(join(tmpdir(), 'countersign-e2e-'))
  await chmod(scratch, 0o755)
  try {
    const inspectable = await launcherFor(join(root, 'dist/inspectable/linux-unpacked'), join(scratch, 'inspectable'))
    const shipped = await launcherFor(join(root, 'dist/linux-unpacked'), join(scratch, 'shipped'))
    const screen = await openVirtualScreen()
    try {
      return await work({
        ...process.env,
        DISPLAY: screen.display,
        COUNTERSIGN_E2E_APP: inspectable.executable,
        COUNTERSIGN_E2E_SHIPPED_APP: shipped.executable,
        ...(inspectable.uid === null ? {} : { COUNTERSIGN_E2E_UID: String(inspectable.uid) }),
      })
    } finally {
      await screen.close()
    }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}
