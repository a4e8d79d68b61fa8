import { lstat } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { insidePaths } from './inside-paths.ts'

/**
 * Why a command may not start in `cwd` (as the room names it), or null. It must be a plain path of folders in the workspace, without a
 * link in it, so that what the owner reads is where the command runs. `mountedFolders`: places below the workspace that exist
 * only as mounts, relative.
 */
export async function directoryObjection(workspaceDir: string, mountedFolders: readonly string[], cwd: string): Promise<string | null> {
  const inWorkspace = cwd === insidePaths.workspace || cwd.startsWith(`${insidePaths.workspace}/`)
  if (!inWorkspace || cwd.includes('\0') || posix.normalize(cwd) !== cwd || cwd.endsWith('/')) return 'the working directory is outside the workspace'
  const relative = cwd.slice(insidePaths.workspace.length + 1)
  if (mountedFolders.some((folder) => relative === folder || relative.startsWith(`${folder}/`))) return null
  let at = workspaceDir
  for (const name of relative === '' ? [] : relative.split('/')) {
    at = join(at, name)
    const found = await lstat(at).catch(() => null)
    if (found === null) return 'the working directory does not exist'
    if (!found.isDirectory()) return 'the working directory goes through a link or a file'
  }
  return null
}
