// `npm start`: sets up what is missing, builds what changed, opens the window. Arguments go to the app.
import { join, resolve } from 'node:path'
import { endWithParent } from './bound-to-us.ts'
import { buildApp } from './build-app.ts'
import { exitCodeOf } from './run-command.ts'
import { hasNoDisplay, setUp } from './set-up.ts'
import { shippedResources, stageResources } from './shipped-resources.ts'
import { openVirtualScreen } from './virtual-screen.ts'

const root = resolve(import.meta.dirname, '../..')

async function start(appArguments: readonly string[]): Promise<number> {
  endWithParent()
  const headless = hasNoDisplay()
  const runtime = await setUp(headless ? ['window', 'display'] : ['window'])
  await buildApp()
  const resources = join(root, 'node_modules/.cache/countersign-resources')
  await stageResources(await shippedResources(process, runtime.sqliteAddon), resources)
  const args = [...sandboxSwitch(), root, ...appArguments]
  const env = { ...process.env, COUNTERSIGN_RESOURCES: resources }
  if (!headless) return exitCodeOf(runtime.electron.executable, args, { env, cwd: root, boundToUs: true })
  console.log('start: no display here, so the window opens on a virtual screen (Xvfb) where nobody sees it')
  const screen = await openVirtualScreen()
  try {
    return await exitCodeOf(runtime.electron.executable, args, { env: { ...env, DISPLAY: screen.display }, cwd: root, boundToUs: true })
  } finally {
    await screen.close()
  }
}

/** Chromium refuses to sandbox root's windows. A package never gets this switch: it is for a trial on a bare machine. */
function sandboxSwitch(): readonly string[] {
  if (process.getuid?.() !== 0) return []
  console.log('start: running as root, so Chromium\'s own sandbox is off for this trial (--no-sandbox)')
  return ['--no-sandbox']
}

process.exitCode = await start(process.argv.slice(2))
