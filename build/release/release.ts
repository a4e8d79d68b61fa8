// `npm run release [-- --signed]`: every package of this platform, around the official Electron, into dist/. `--signed` insists on signatures.
import { build, type Configuration } from 'electron-builder'
import { join, resolve } from 'node:path'
import { buildApp } from '../runtime/build-app.ts'
import { electronRuntime } from '../runtime/electron.ts'
import { builderConfig } from './builder-config.ts'
import { checkContents, unpackedApp } from './contents.ts'
import { makeTarball } from './tarball.ts'
import { missingSecrets } from './signing.ts'
import { stageFolder, stageFor } from './stage.ts'
import { hostTarget, targetsOf, type Target } from './target.ts'

const root = resolve(import.meta.dirname, '../..')

/** Linux is built on the processor that it is for; the others build for both on one machine. */
function targets(): readonly Target[] {
  const host = hostTarget()
  return host.platform === 'linux' ? [host] : targetsOf(host.platform)
}

/** `owner/name` of the repository whose releases are this build's updates, from GITHUB_REPOSITORY. */
function repository(): { readonly owner: string; readonly repo: string } | null {
  const [owner, repo] = (process.env['GITHUB_REPOSITORY'] ?? '').split('/')
  return owner === undefined || repo === undefined || owner === '' ? null : { owner, repo }
}

async function release(wanted: readonly string[]): Promise<void> {
  const host = hostTarget()
  const missing = missingSecrets(host.platform, process.env)
  for (const { name, without } of missing) console.log(`release: ${name} is not set: ${without}`)
  if (wanted.includes('--signed') && missing.length > 0) throw new Error(`not signed: ${missing.map(({ name }) => name).join(', ')} must be set`)
  const electron = await electronRuntime()
  if (electron.standIn) throw new Error('a release is made around the official Electron only, which cannot be had here; npm run make makes packages for tests')
  await buildApp()
  for (const target of targets()) await stageFor(target, null, true)
  const config = builderConfig({ electron: null, stage: stageFolder, updatesFrom: repository() })
  await make(host, config)
  for (const target of targets()) if (host.platform !== 'darwin') await checkContents(unpackedApp(target), target)
  if (host.platform === 'darwin') await checkContents(join(root, 'dist/mac-universal/Countersign.app'), host)
}

async function make(host: Target, config: Configuration): Promise<void> {
  if (host.platform === 'darwin') { await build({ projectDir: root, mac: [], publish: 'never', config }); return }
  if (host.platform === 'win32') { await build({ projectDir: root, win: [], x64: true, arm64: true, publish: 'never', config }); return }
  await build({ projectDir: root, linux: ['AppImage', 'rpm'], [host.arch]: true, publish: 'never', config })
  // The deb is written by our own writer on every machine; the rpm and the AppImage by electron-builder's tools.
  process.env['CUSTOM_FPM_PATH'] = join(import.meta.dirname, 'deb-writer.ts')
  await build({ projectDir: root, linux: ['deb'], [host.arch]: true, publish: 'never', config })
  await makeTarball(host, join(root, 'dist'))
}

await release(process.argv.slice(2))
