import { constants } from 'node:fs'
import { cp, mkdir, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { bundledBubblewrap, shippedResources, type ShippedResource } from '../runtime/shipped-resources.ts'
import { builderPlatform, type Target } from './target.ts'

const root = resolve(import.meta.dirname, '../..')

/** Holds one folder a target, named as electron-builder's patterns name it. */
export const stageFolder = join(root, 'node_modules/.cache/countersign-stage')

/**
 * Lays out what stands beside the asar of a package for `target`. `sqliteAddon`: another addon than the platform's prebuild (for the stand-in).
 * `release`: nothing may be left out, not even what the system has as well.
 * @throws when the target's OpenCode or SQLite addon is missing: a package without either is never made
 */
export async function stageFor(target: Target, sqliteAddon: string | null, release = false): Promise<void> {
  const folder = join(stageFolder, `${builderPlatform[target.platform]}-${target.arch}`)
  await rm(folder, { recursive: true, force: true })
  for (const resource of [...await shippedResources(target, sqliteAddon), ...await bundledBubblewrap(target, release)]) await copyOne(resource, folder)
}

async function copyOne({ from, to }: ShippedResource, folder: string): Promise<void> {
  await mkdir(dirname(join(folder, to)), { recursive: true })
  await cp(from, join(folder, to), { recursive: true, dereference: true, mode: constants.COPYFILE_FICLONE })
}
