// `npm run demo`: runs the sample task without a person and without a display, prints each step, and leaves pictures and the audit export in dist/demo/.
import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { exitCodeOf, run } from '../runtime/run-command.ts'
import { ensureSystemPackages } from '../runtime/system-packages.ts'
import { onVirtualScreen } from './packaged-screen.ts'

const root = resolve(import.meta.dirname, '../..')
const packaged = join(root, 'dist/inspectable/linux-unpacked/resources/app.asar')

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

async function demo(): Promise<number> {
  await ensureSystemPackages(['window', 'display'])
  if (await isOutdated()) {
    console.log('demo: packaging the app first')
    await run('npm', ['run', '--silent', 'package', '--', '--inspectable'], { cwd: root, output: 'quiet' })
  }
  return onVirtualScreen((env) => exitCodeOf(process.execPath, [join(root, 'e2e/demo.ts')], { cwd: root, env }))
}

process.exitCode = await demo()
