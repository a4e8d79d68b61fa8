import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The SQLite addon that was made for this runtime: `COUNTERSIGN_SQLITE_BINDING` in a trial (`npm start`), else the file that
 * the package carries in its resources. Throws when there is neither, since no other copy can be loaded by this runtime.
 */
export function sqliteBinding(resourcesPath: string, env: NodeJS.ProcessEnv): string {
  const handed = env['COUNTERSIGN_SQLITE_BINDING']
  if (handed !== undefined && handed !== '') return handed
  const packaged = join(resourcesPath, 'native', 'better_sqlite3.node')
  if (!existsSync(packaged)) throw new Error(`SQLite addon not found: ${packaged}`)
  return packaged
}
