import { realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, relative, sep } from 'node:path'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { systemCode } from './fault.ts'
import { isGitDir } from './git-facts.ts'
import { PinnedFolder } from './pinned-folder.ts'

/** Folders of the system that are never a project, as are those above them. */
const systemFolders = ['/bin', '/boot', '/dev', '/etc', '/lib', '/lib64', '/proc', '/run', '/sbin', '/sys', '/usr', '/System', '/Library']

/** Exceptions: where removable disks of a person appear, and memory for scratch files. */
const personal = ['/run/media', '/dev/shm']

/** Whether `inner` is `outer` or lies below it. */
function isWithin(inner: string, outer: string): boolean {
  const way = relative(outer, inner)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** Resolves a folder of the owner's to its real path, or says why no task can start on it. Nothing is touched. */
export async function admitFolder(path: string, places: { readonly homeDir: string; readonly dataDir: string }): Promise<Result<string, Failure>> {
  if (!isAbsolute(path) || path.includes('\0')) return refuse(`${path} is not a full path.`, 'Give the path from the top, such as /home/you/project.')
  let real: string
  try {
    real = await realpath(path)
    if (!(await stat(real)).isDirectory()) return refuse(`${path} is a file, not a folder.`, 'Choose the folder that holds it.')
    // Opening is the test of permission: mode bits do not tell the whole story.
    const folder = await PinnedFolder.open(real)
    await folder.close()
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT') return refuse(`${path} does not exist.`, 'Check the path, or choose the folder again.')
    if (code === 'ENOTDIR') return refuse(`${path} is not a folder.`, 'Choose a folder.')
    if (code === 'EACCES' || code === 'EPERM') return refuse(`No permission to read ${path}.`, 'Change who may read it, or choose another folder.')
    if (code === 'ELOOP' || code === 'ENAMETOOLONG') return refuse(`${path} cannot be resolved (${code}).`, 'Choose the folder itself instead of a link to it.')
    throw error
  }
  return (await refusalOf(real, places)) ?? ok(real)
}

async function refusalOf(real: string, places: { readonly homeDir: string; readonly dataDir: string }): Promise<Result<never, Failure> | null> {
  if (dirname(real) === real) return refuse('This is the top of the whole disk.', 'Choose the folder of one project.')
  const home = await realpath(places.homeDir).catch(() => places.homeDir)
  if (isWithin(home, real)) return refuse('This is your home folder, or one above it.', 'Choose the folder of one project in it.')
  if (!personal.some((folder) => isWithin(real, folder)) && systemFolders.some((folder) => isWithin(real, folder) || isWithin(folder, real))) return refuse(`${real} belongs to the system.`, 'Choose the folder of one project.')
  const data = await realpath(places.dataDir).catch(() => places.dataDir)
  if (isWithin(real, data) || isWithin(data, real)) return refuse('This folder holds Countersign\'s own data, or lies in it.', 'Choose the folder of one project.')
  if (real.split(sep).some((part) => part.toLowerCase() === '.git') || (await isGitDir(real))) return refuse('This is a bare git repository, or the inside of one: it has no files to work on.', 'Choose a clone with a work tree.')
  return null
}

function refuse(message: string, todo: string): Result<never, Failure> {
  return err(failure('folder-refused', message, todo))
}
