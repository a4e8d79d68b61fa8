import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { run } from '../runtime/run-command.ts'

const root = resolve(import.meta.dirname, '../..')
const packaged = join(root, 'dist/inspectable/linux-unpacked/resources/app.asar')

/** Packages the app, inspectable as well, unless the package that is there was made from these very sources. */
export async function packageIfOutdated(): Promise<void> {
  if (!await isOutdated()) return
  console.log('packaging the app first')
  await run('npm', ['run', '--silent', 'package', '--', '--inspectable'], { cwd: root, output: 'quiet' })
}

/** Whether something that goes into the package is newer than the package. */
async function isOutdated(): Promise<boolean> {
  if (!existsSync(packaged)) return true
  const { mtimeMs } = await stat(packaged)
  for (const folder of ['src-main', 'src-preload', 'src-renderer', 'resources', 'build/release', 'build/icons']) {
    for (const entry of await readdir(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && (await stat(join(entry.parentPath, entry.name))).mtimeMs > mtimeMs) return true
    }
  }
  return false
}
