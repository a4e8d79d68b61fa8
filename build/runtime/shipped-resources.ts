import { existsSync, readdirSync } from 'node:fs'
import { mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { builtBubblewrap } from './bubblewrap.ts'
import { openCodeBinary, openCodeName } from './opencode-binary.ts'
import { openCodeVersion } from './pins.ts'
import { sqlitePrebuild } from './sqlite-addon.ts'
import { writeThirdPartyNotices } from './third-party-notices.ts'

const root = resolve(import.meta.dirname, '../..')

/** One file or folder that stands beside the app's own code, in the folder that Electron calls `resourcesPath`. */
export interface ShippedResource {
  readonly from: string
  /** Relative to the resources folder. */
  readonly to: string
}

/**
 * What ships outside of the asar: `native/better_sqlite3.node`, `opencode/opencode[.exe]` with a note of its version, `licences/`,
 * `verify-export.mjs` and the entries of the repository's own `resources/` under their own names. `sqliteAddon`: another addon than the target's prebuild.
 * @throws when the target's OpenCode or SQLite prebuild cannot be had
 */
export async function shippedResources(target: { readonly platform: NodeJS.Platform; readonly arch: string }, sqliteAddon: string | null): Promise<readonly ShippedResource[]> {
  const openCode = await openCodeBinary(target)
  return [
    { from: sqliteAddon ?? sqlitePrebuild(target), to: 'native/better_sqlite3.node' },
    { from: openCode, to: `opencode/${openCodeName(target.platform)}` },
    { from: await writeOpenCodeNote(openCode), to: 'opencode/shipped.json' },
    { from: join(root, 'LICENSE'), to: 'licences/LICENSE.txt' },
    { from: await writeThirdPartyNotices(), to: 'licences/THIRD-PARTY.txt' },
    { from: join(root, 'build/verify-export.mjs'), to: 'verify-export.mjs' },
    ...ownResources(),
  ]
}

/** Says of the OpenCode that is shipped which it is, so that the app's first task needs not start it to ask. Gives the note's path. */
async function writeOpenCodeNote(openCode: string): Promise<string> {
  const path = join(root, 'node_modules/.cache/opencode-shipped.json')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `${JSON.stringify({ version: openCodeVersion, bytes: (await stat(openCode)).size })}\n`)
  return path
}

/**
 * The bwrap that a Linux package brings along, with its licence and source, in `bwrap/`. One that cannot be built here is left out and said, unless it
 * `mustBe`: a release is not made without it.
 */
export async function bundledBubblewrap({ platform, arch }: { readonly platform: NodeJS.Platform; readonly arch: string }, mustBe: boolean): Promise<readonly ShippedResource[]> {
  if (platform !== 'linux') return []
  try {
    if (process.platform !== platform || process.arch !== arch) throw new Error('it is built on the system and processor that it is for')
    const { program, licence, source } = await builtBubblewrap()
    return [program, licence, source].map((from) => ({ from, to: `bwrap/${basename(from)}` }))
  } catch (error) {
    if (mustBe || !(error instanceof Error)) throw error
    console.log(`package: no bubblewrap comes along, so that the system's is needed: ${error.message}`)
    return []
  }
}

/** Lays `resources` out in `folder` as links, for a run from the source tree. */
export async function stageResources(resources: readonly ShippedResource[], folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  for (const { from, to } of resources) {
    await mkdir(dirname(join(folder, to)), { recursive: true })
    await symlink(from, join(folder, to))
  }
}

function ownResources(): readonly ShippedResource[] {
  const folder = join(root, 'resources')
  return existsSync(folder) ? readdirSync(folder).map((name) => ({ from: join(folder, name), to: name })) : []
}
