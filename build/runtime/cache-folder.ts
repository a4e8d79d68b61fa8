import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Where runtimes live between runs: outside node_modules, so that `npm ci` keeps them. `COUNTERSIGN_CACHE`, else the platform's
 * cache folder. HOME may be unset: then the account's own home is taken.
 */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const own = env['COUNTERSIGN_CACHE']
  if (own !== undefined && own !== '') return own
  if (process.platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'countersign', 'cache')
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'countersign')
  const xdg = env['XDG_CACHE_HOME']
  return join(xdg?.startsWith('/') === true ? xdg : join(homedir(), '.cache'), 'countersign')
}
