// `npm run package`: dist/linux-unpacked (or this platform's like). With `--inspectable` also dist/inspectable/linux-unpacked, which tests can steer.
import { build } from 'electron-builder'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildApp, buildInspectableMain, inspectableMain } from '../runtime/build-app.ts'
import { setUp } from '../runtime/set-up.ts'
import { builderConfig } from './builder-config.ts'
import { checkContents, unpackedApp } from './contents.ts'
import { copyInspectable } from './inspectable.ts'
import { stageFolder, stageFor } from './stage.ts'
import { hostTarget } from './target.ts'

const root = resolve(import.meta.dirname, '../..')

async function packageApp(wanted: readonly string[]): Promise<void> {
  const runtime = await setUp(['window'])
  await buildApp()
  const target = hostTarget()
  await stageFor(target, runtime.sqliteAddon)
  await build({ projectDir: root, dir: true, publish: 'never', [target.arch]: true, config: builderConfig({ electron: runtime.electron, stage: stageFolder, updatesFrom: null }) })
  await checkContents(unpackedApp(target), target)
  if (!wanted.includes('--inspectable')) return
  const unpacked = join(root, 'dist/linux-unpacked')
  if (!existsSync(unpacked)) throw new Error('--inspectable is for Linux so far')
  await buildInspectableMain()
  await copyInspectable(unpacked, join(root, 'dist/inspectable/linux-unpacked'), inspectableMain)
}

await packageApp(process.argv.slice(2))
