import { existsSync, readdirSync } from 'node:fs'
import { mkdir, rm, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** One file or folder that stands beside the app's own code, in the folder that Electron calls `resourcesPath`. */
export interface ShippedResource {
  readonly from: string
  /** Relative to the resources folder. */
  readonly to: string
}

/**
 * What ships outside of the asar: `native/better_sqlite3.node`, `opencode/opencode[.exe]`, `licences/` and the entries of the
 * repository's own `resources/` under their own names.
 * @throws when this platform's OpenCode is not installed
 */
export function shippedResources(sqliteAddon: string): readonly ShippedResource[] {
  return [
    { from: sqliteAddon, to: 'native/better_sqlite3.node' },
    openCode(),
    { from: join(root, 'LICENSE'), to: 'licences/LICENSE' },
    ...ownResources(),
  ]
}

/** Lays `resources` out in `folder` as links, for a run from the source tree. */
export async function stageResources(resources: readonly ShippedResource[], folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  for (const { from, to } of resources) {
    await mkdir(dirname(join(folder, to)), { recursive: true })
    await symlink(from, join(folder, to))
  }
}

function openCode(): ShippedResource {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = process.platform === 'win32' ? 'opencode.exe' : 'opencode'
  const from = join(root, 'node_modules', `opencode-${platform}-${process.arch}`, 'bin', name)
  if (!existsSync(from)) throw new Error(`OpenCode for ${platform}-${process.arch} is not installed: run npm ci`)
  return { from, to: `opencode/${name}` }
}

function ownResources(): readonly ShippedResource[] {
  const folder = join(root, 'resources')
  return existsSync(folder) ? readdirSync(folder).map((name) => ({ from: join(folder, name), to: name })) : []
}
