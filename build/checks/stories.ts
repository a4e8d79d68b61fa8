// `npm run stories [-- WORD]`: builds the design system's stories (src-renderer/dev/storybook) and has e2e/stories.ts ask axe about each, light and dark. Both
// happen where there is no network: what passes there asks nobody for anything.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { electronRuntime } from '../runtime/electron.ts'
import { exitCodeOf, run } from '../runtime/run-command.ts'
import { ensureSystemPackages } from '../runtime/system-packages.ts'
import { openVirtualScreen } from '../runtime/virtual-screen.ts'
import { exitCodeWithoutNetwork } from './no-network.ts'

const root = resolve(import.meta.dirname, '../..')
const wanted = process.argv.slice(2)

async function buildAndLook(): Promise<number> {
  const book = await mkdtemp(join(tmpdir(), 'countersign-stories-'))
  try {
    const storybook = join(root, 'node_modules/storybook/dist/bin/dispatcher.js')
    await run(process.execPath, [storybook, 'build', '--config-dir', 'src-renderer/dev/storybook', '--output-dir', book, '--preview-only', '--disable-telemetry', '--loglevel', 'warn'], { cwd: root, env: { ...process.env, CI: 'true' }, output: 'quiet' })
    const screen = await openVirtualScreen()
    try {
      return await exitCodeOf(process.execPath, [join(root, 'e2e/stories.ts'), ...wanted], { cwd: root, env: { ...process.env, DISPLAY: screen.display, COUNTERSIGN_STORIES: book } })
    } finally {
      await screen.close()
    }
  } finally {
    await rm(book, { recursive: true, force: true })
  }
}

async function start(): Promise<number> {
  if (process.env['COUNTERSIGN_ELECTRON'] !== undefined) return buildAndLook()
  await ensureSystemPackages(['window', 'display'])
  const { executable } = await electronRuntime()
  return exitCodeWithoutNetwork(process.execPath, [import.meta.filename, ...wanted], { cwd: root, env: { ...process.env, COUNTERSIGN_ELECTRON: executable } })
}

process.exitCode = await start()
