import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { bundleInputs } from '../runtime/build-app.ts'
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
  for (const input of [...bundleInputs, 'resources', 'build/release', 'build/icons']) if (await isNewer(join(root, input), mtimeMs)) return true
  return false
}

/** Whether a file, or one of a folder, was changed later than that. */
async function isNewer(path: string, thanMs: number): Promise<boolean> {
  const found = await stat(path)
  if (!found.isDirectory()) return found.mtimeMs > thanMs
  for (const name of await readdir(path)) if (await isNewer(join(path, name), thanMs)) return true
  return false
}
