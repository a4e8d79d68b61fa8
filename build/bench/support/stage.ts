import { createPackage } from '@electron/asar'
import { chmodSync, chownSync, cpSync, existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { launcherFor } from '../../checks/other-account.ts'
import { run } from '../../runtime/run-command.ts'
import { ensureSystemPackages } from '../../runtime/system-packages.ts'
import { openVirtualScreen } from '../../runtime/virtual-screen.ts'

const root = resolve(import.meta.dirname, '../../..')
const unpacked = join(root, 'dist/linux-unpacked')
const bareFolder = join(root, 'dist/bench/bare')

/** What benches of the packaged app need: a screen, an account without powers, what ships, and a bare window of the same runtime. */
export interface Stage {
  readonly display: string
  /** The account that the apps run as, when it is not this one. */
  readonly uid: number | null
  /** Starts exactly what ships. */
  readonly app: string
  /** Starts the same executable with nothing but one window. */
  readonly bare: string
  /** A new folder that belongs to the account and is removed with the stage. */
  readonly folder: (name: string) => string
  readonly close: () => Promise<void>
}

let packaged: Promise<void> | null = null

/** Packages the app as it is now, once a run. With COUNTERSIGN_BENCH_AS_IS=1 the package that is there is measured. */
function packageOnce(): Promise<void> {
  if (process.env['COUNTERSIGN_BENCH_AS_IS'] === '1' && existsSync(join(unpacked, 'countersign'))) return Promise.resolve()
  return packaged ??= run(process.execPath, [join(root, 'build/release/package.ts')], { cwd: root, output: 'quiet' })
}

/** Sets the stage. Whoever opens it closes it. */
export async function openStage(): Promise<Stage> {
  await ensureSystemPackages(['window', 'display'])
  await packageOnce()
  await makeBare()
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-bench-'))
  chmodSync(scratch, 0o755)
  const app = await launcherFor(unpacked, join(scratch, 'app'))
  const bare = await launcherFor(bareFolder, join(scratch, 'bare'))
  const screen = await openVirtualScreen()
  return {
    display: screen.display, uid: app.uid, app: app.executable, bare: bare.executable,
    folder: (name) => {
      const folder = mkdtempSync(join(scratch, `${name}-`))
      if (app.uid !== null) chownSync(folder, app.uid, app.uid)
      return folder
    },
    close: async () => {
      await screen.close()
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}

/** The runtime of the package, file by file the same (hard links: warm in the same page cache), around another app. */
async function makeBare(): Promise<void> {
  rmSync(bareFolder, { recursive: true, force: true })
  link(unpacked, bareFolder)
  mkdirSync(join(bareFolder, 'resources'))
  const source = join(import.meta.dirname, '../bare-app')
  await createPackage(source, join(bareFolder, 'resources/app.asar'))
}

function link(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    if (name === 'resources') continue
    const path = join(from, name)
    if (statSync(path).isDirectory()) link(path, join(to, name))
    else if (sameDevice(from, to)) linkSync(path, join(to, name))
    else cpSync(path, join(to, name))
  }
}

function sameDevice(one: string, other: string): boolean {
  return statSync(one).dev === statSync(other).dev
}
