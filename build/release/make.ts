// `npm run make [-- deb tar.gz …]`: makes installable packages for this platform. On Linux what it can make itself: deb and tar.gz.
import { build } from 'electron-builder'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { buildApp } from '../runtime/build-app.ts'
import { setUp } from '../runtime/set-up.ts'
import { builderConfig, type BuilderInput } from './builder-config.ts'
import { checkContents, unpackedApp } from './contents.ts'
import { debName, outputFolder } from './output.ts'
import { stageFolder, stageFor } from './stage.ts'
import { makeTarball } from './tarball.ts'
import { hostTarget, type Target } from './target.ts'

const root = resolve(import.meta.dirname, '../..')

async function make(wanted: readonly string[]): Promise<void> {
  const unknown = wanted.filter((name) => name !== 'deb' && name !== 'tar.gz')
  if (process.platform !== 'linux' || unknown.length > 0) throw new Error(`${unknown.join(', ') || process.platform}: only deb and tar.gz on Linux are made here; all else is made by the release workflow (npm run release)`)
  const runtime = await setUp(['window'])
  const target = hostTarget()
  await buildApp()
  await stageFor(target, runtime.sqliteAddon)
  const input: BuilderInput = { electron: runtime.electron, stage: stageFolder, updatesFrom: null, compression: 'gz' }
  await build({ projectDir: root, dir: true, publish: 'never', [target.arch]: true, config: builderConfig(input) })
  await checkContents(unpackedApp(target), target)
  const output = outputFolder(runtime.electron)
  await mkdir(output, { recursive: true })
  if (wanted.length === 0 || wanted.includes('deb')) await makeDeb(target, input, output)
  if (wanted.length === 0 || wanted.includes('tar.gz')) await makeTarball(target, output)
}

async function makeDeb(target: Target, input: BuilderInput, output: string): Promise<void> {
  process.env['CUSTOM_FPM_PATH'] = join(import.meta.dirname, 'deb-writer.ts')
  const [made] = (await build({ projectDir: root, linux: ['deb'], prepackaged: unpackedApp(target), publish: 'never', [target.arch]: true, config: builderConfig(input) })).filter((path) => path.endsWith('.deb'))
  if (made === undefined) throw new Error('electron-builder left no deb')
  await rm(join(unpackedApp(target), 'resources/apparmor-profile'), { force: true })
  const wanted = join(output, debName(target))
  if (made !== wanted) await rename(made, wanted)
  console.log(`make: ${wanted}`)
}

await make(process.argv.slice(2))
