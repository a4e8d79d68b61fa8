import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { cacheFolder } from './cache-folder.ts'
import type { ElectronRuntime } from './electron.ts'
import { run } from './run-command.ts'
import { ensureSystemPackages } from './system-packages.ts'

const modules = resolve(import.meta.dirname, '../../node_modules')
const source = join(modules, 'better-sqlite3')

// The prebuilds want Node-API 10, the stand-in has 9: built without a fixed version, the same source runs on it.
// -O1 without LTO because the build is once per machine and takes a third of the time.
const flags = {
  CFLAGS: '-O1 -fno-lto',
  LDFLAGS: '-fno-lto',
  CXXFLAGS: '-O1 -fno-lto -UNAPI_VERSION -DNAPI_EXPERIMENTAL -DNODE_API_EXPERIMENTAL_NO_WARNING',
}

/**
 * The SQLite addon that loads in `runtime`: the package's prebuild for the official Electron, else one built from the same
 * package's source, kept beside the runtime and never inside node_modules, where it would shadow the prebuild of the unit tests.
 */
export async function sqliteAddon(runtime: ElectronRuntime): Promise<string> {
  if (!runtime.standIn) return sqlitePrebuild(process)
  const built = join(cacheFolder(), `better-sqlite3-${recipe(runtime)}.node`)
  if (!existsSync(built)) await buildAddon(built)
  return built
}

/** The package's own addon for a target. @throws when there is none */
export function sqlitePrebuild({ platform, arch }: { readonly platform: string; readonly arch: string }): string {
  const path = join(source, 'prebuilds', `${platform}-${arch}.node`)
  if (!existsSync(path)) throw new Error(`better-sqlite3 has no prebuild for ${platform}-${arch}`)
  return path
}

function recipe(runtime: ElectronRuntime): string {
  const hash = createHash('sha256').update(JSON.stringify({ flags, runtime: runtime.version, node: process.versions.node }))
  for (const name of ['better-sqlite3', 'node-addon-api']) hash.update(readFileSync(join(modules, name, 'package.json')))
  return hash.digest('hex').slice(0, 16)
}

async function buildAddon(target: string): Promise<void> {
  await ensureSystemPackages(['stand-in'])
  console.log('set-up: building the SQLite addon for the stand-in runtime (once, about a minute)')
  // Inside node_modules, since its build asks for node-addon-api the way Node resolves it.
  await mkdir(join(modules, '.cache'), { recursive: true })
  const work = await mkdtemp(join(modules, '.cache/sqlite-build-'))
  try {
    await cp(source, work, { recursive: true })
    const headers = resolve(dirname(process.execPath), '..')
    const args = [join(modules, 'node-gyp/bin/node-gyp.js'), 'rebuild', '--release', '--force_build=1', `--nodedir=${headers}`, '-j', '2']
    await run(process.execPath, args, { cwd: work, env: { ...process.env, ...flags }, output: 'quiet' })
    await mkdir(dirname(target), { recursive: true })
    await copyFile(join(work, 'build/Release/better_sqlite3.node'), `${target}.${process.pid}`)
    await rename(`${target}.${process.pid}`, target)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
