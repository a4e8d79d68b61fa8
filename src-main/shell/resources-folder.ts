import { join } from 'node:path'

/** The part of Electron's `app` and `process` that tells where the shipped resources are. */
export interface ResourcesPlace {
  readonly isPackaged: boolean
  readonly resourcesPath: string
  readonly env: NodeJS.ProcessEnv
}

/**
 * The folder with what ships beside the code: `native/`, `opencode/`, `licences/`, the sample. A package has it in its own
 * resources; a run from the source tree is handed one by `npm start`, and a package never listens to that variable.
 * @throws when a run from the source tree was not started by `npm start`
 */
export function resourcesFolder(place: ResourcesPlace): string {
  if (place.isPackaged) return place.resourcesPath
  const handed = place.env['COUNTERSIGN_RESOURCES']
  if (handed === undefined || handed === '') throw new Error('COUNTERSIGN_RESOURCES is not set: start with npm start')
  return handed
}

/** Path of the SQLite addon made for this runtime, for better-sqlite3's `nativeBinding` option. */
export function sqliteAddonIn(resources: string): string {
  return join(resources, 'native', 'better_sqlite3.node')
}

/** Path of the OpenCode that ships with this app. */
export function openCodeIn(resources: string, platform: NodeJS.Platform): string {
  return join(resources, 'opencode', platform === 'win32' ? 'opencode.exe' : 'opencode')
}

/** Path of the note beside that OpenCode which says what was shipped: its version and its bytes. */
export function openCodeNoteIn(resources: string): string {
  return join(resources, 'opencode', 'shipped.json')
}

/** Path of the bubblewrap that ships with this app, where one does (Linux packages made with one). */
export function bubblewrapIn(resources: string): string {
  return join(resources, 'bwrap', 'bwrap')
}

/** Folder of the sample task, as real files. */
export function sampleIn(resources: string): string {
  return join(resources, 'sample')
}
