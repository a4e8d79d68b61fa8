// `npm run pictures`: makes the pictures of README and guide anew, docs/pictures/NAME-light.png and -dark.png, from the packaged app with the sample task.
import { join, resolve } from 'node:path'
import { exitCodeOf } from '../runtime/run-command.ts'
import { ensureSystemPackages } from '../runtime/system-packages.ts'
import { packageIfOutdated } from './fresh-package.ts'
import { onVirtualScreen } from './packaged-screen.ts'

const root = resolve(import.meta.dirname, '../..')

async function pictures(): Promise<number> {
  await ensureSystemPackages(['window', 'display'])
  await packageIfOutdated()
  return onVirtualScreen((env) => exitCodeOf(process.execPath, [join(root, 'e2e/pictures.ts')], { cwd: root, env }))
}

process.exitCode = await pictures()
