import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { run } from './run-command.ts'

const root = resolve(import.meta.dirname, '../..')
const inputs = ['src-main', 'src-preload', 'src-renderer', 'electron.vite.config.ts', 'package-lock.json']
const stamp = join(root, 'node_modules/.cache/countersign-build')

/** Bundles the app into out/, unless out/ was made from these very sources. */
export async function buildApp(): Promise<void> {
  const now = digestOfInputs()
  if (existsSync(join(root, 'out')) && existsSync(stamp) && readFileSync(stamp, 'utf8') === now) return
  const tool = join(root, 'node_modules/electron-vite/bin/electron-vite.js')
  await run(process.execPath, [tool, 'build', '--logLevel', 'warn'], { cwd: root })
  writeFileSync(stamp, now)
}

function digestOfInputs(): string {
  const hash = createHash('sha256')
  for (const input of inputs) addTo(hash, join(root, input))
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
