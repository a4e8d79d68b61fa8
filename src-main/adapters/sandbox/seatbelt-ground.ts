import { lstat, readdir, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { Mount } from '../../../src-preload/contract/task.ts'
import { workspaceRoot } from '../../core/approval/path-pattern.ts'
import type { CommandSpec } from '../../engine/ports.ts'
import { planMounts } from './chosen-mounts.ts'
import { maskedPaths, refusedPlace } from './mount-points.ts'
import { realFolder } from './sandbox-ground.ts'
import type { SeatbeltShape } from './seatbelt-profile.ts'

/** What seatbelt sandboxes on one workspace stand on. */
export interface SeatbeltGround { readonly shape: Omit<SeatbeltShape, 'privateDir'>; readonly pathEntries: readonly string[] }

const masked = maskedPaths.map(({ path }) => path)

/** A masked name that is a link leads to where no mask is. macOS takes names in any case for the same one. */
async function maskProblem(workspaceDir: string): Promise<Failure | null> {
  for (const name of await readdir(workspaceDir)) {
    if (!masked.includes(name.normalize('NFKC').toLowerCase())) continue
    const found = await lstat(join(workspaceDir, name))
    if (!found.isDirectory() && !found.isFile()) return refusedPlace(name, 'a link or a special file')
  }
  return null
}

/** A path inside another folder, with that folder replaced; else null. */
const moved = (path: string, from: string, to: string): string | null => (path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : null)

/** Nothing can be mounted: a toolchain is used where it is, and a dependency that was not copied has no place in the workspace. */
async function planPlaces(workspaceDir: string, mounts: readonly Mount[], guarded: readonly string[]): Promise<Result<{ readonly readOnly: readonly string[]; readonly pathEntries: readonly string[] }, Failure>> {
  const notHere = mounts.find(({ kind, mode }) => kind === 'dependency' && mode === 'read-only')
  if (notHere !== undefined) return err(failure('folder-refused', `“${notHere.label}” cannot be mounted: on macOS nothing can be shown at another place than its own.`, 'Choose to have it copied instead, or start the task without it.'))
  const plan = await planMounts(mounts, guarded)
  if (!plan.ok) return plan
  const { toolchains, pathEntries } = plan.value
  const real = (entry: string): string => moved(entry, workspaceRoot, workspaceDir) ?? toolchains.map(({ from, into }) => moved(entry, into, from)).find((path) => path !== null) ?? entry
  return ok({ readOnly: toolchains.map(({ from }) => from), pathEntries: pathEntries.map(real) })
}

/** Looks at a workspace and the chosen folders. `more`: what else may be read. Real paths all the way. */
export async function prepareSeatbelt(workspace: string, mounts: readonly Mount[], guarded: readonly string[], more: readonly string[]): Promise<Result<SeatbeltGround, Failure>> {
  const workspaceDir = await realFolder(workspace, 'The task\'s workspace')
  if (!workspaceDir.ok) return workspaceDir
  const problem = await maskProblem(workspaceDir.value)
  if (problem !== null) return err(problem)
  const places = await planPlaces(workspaceDir.value, mounts, guarded)
  if (!places.ok) return places
  return ok({ shape: { workspaceDir: workspaceDir.value, masked, homeDir: await realpath(homedir()), readOnly: [...places.value.readOnly, ...more] }, pathEntries: places.value.pathEntries })
}

/** Folders of the host for a command that finds them by a variable: a name of their own cannot be given to them. */
export async function namedFolders(wanted: CommandSpec['readOnly']): Promise<Result<{ readonly readOnly: readonly string[]; readonly named: Readonly<Record<string, string>> }, Failure>> {
  const named: Record<string, string> = {}
  for (const { hostPath, into, variable } of wanted) {
    if (variable === undefined) return err(failure('sandbox-failed', `“${into}” cannot be shown to a command: on macOS nothing can be shown at another place than its own.`, 'Run the app on Linux, for example in a virtual machine.'))
    const real = await realFolder(hostPath, 'A folder that the command needs')
    if (!real.ok) return real
    named[variable] = real.value
  }
  return ok({ readOnly: Object.values(named), named })
}
