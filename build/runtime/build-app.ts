import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { run } from './run-command.ts'

const root = resolve(import.meta.dirname, '../..')
/** What the bundles are made of: files and folders of the repository. */
export const bundleInputs = ['src-main', 'src-preload', 'src-renderer', 'src-words', 'electron.vite.config.ts', 'build/release/failpoints.ts', 'build/first-screen', 'build/words', 'package-lock.json']
const cache = join(root, 'node_modules/.cache')
/** The main process with failpoints, for tests; the rest of that build is what ships. */
export const inspectableMain = join(cache, 'countersign-inspectable/main')

/** Bundles the app into out/, unless out/ was made from these very sources. */
export async function buildApp(): Promise<void> {
  await buildInto(join(root, 'out'), join(cache, 'countersign-build'), {})
}

/** Bundles the main process for tests into `inspectableMain`, unless that was made from these very sources. */
export async function buildInspectableMain(): Promise<void> {
  await buildInto(inspectableMain, join(cache, 'countersign-build-inspectable'), { COUNTERSIGN_INSPECTABLE_MAIN: inspectableMain })
}

async function buildInto(folder: string, stamp: string, env: NodeJS.ProcessEnv): Promise<void> {
  const now = digestOfInputs()
  if (existsSync(folder) && existsSync(stamp) && readFileSync(stamp, 'utf8') === now) return
  const tool = join(root, 'node_modules/electron-vite/bin/electron-vite.js')
  await run(process.execPath, [tool, 'build', '--logLevel', 'warn'], { cwd: root, env: { ...process.env, ...env } })
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, now)
}

function digestOfInputs(): string {
  const hash = createHash('sha256')
  for (const input of bundleInputs) addTo(hash, join(root, input))
  return hash.digest('hex')
}

function addTo(hash: ReturnType<typeof createHash>, path: string): void {
  const found = statSync(path)
  if (found.isDirectory()) {
    for (const name of readdirSync(path).toSorted()) addTo(hash, join(path, name))
    return
  }
  hash.update(`${path} ${found.size} ${found.mtimeMs}\n`)
}
