import { realpath, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { Mount } from '../../../src-preload/contract/task.ts'
import type { Mask } from './bubblewrap-arguments.ts'
import { planMounts, type MountPlan } from './chosen-mounts.ts'
import type { BwrapChoice } from './find-bwrap.ts'
import { readHostLayout, type HostLayout } from './host-layout.ts'
import { createMountPoints, madeListName } from './mount-points.ts'
import { removeLeftFolders } from './orphans.ts'
import { makeRunFolder, usableRunRoot, type RunFolder } from './run-folder.ts'
import { handOver } from './unprivileged.ts'

/** What a sandbox on one workspace needs. `tidy` gives it all back; idempotent. */
export interface Ground { readonly layout: HostLayout; readonly folder: RunFolder; readonly workspaceDir: string; readonly plan: MountPlan; readonly masks: readonly Mask[]; readonly tidy: () => Promise<void> }

/** Prepares what sandboxes stand on, and knows what is in use. Everything may throw when the disk refuses. */
export interface Grounds {
  readLayout(): Promise<Result<HostLayout, Failure>>
  openFolder(): Promise<RunFolder>
  prepare(workspaceDir: string, mounts: readonly Mount[]): Promise<Result<Ground, Failure>>
  /** Removes what earlier runs of the app left, here and in workspaces. */
  sweep(): Promise<void>
}

/** A folder's real path. Links are resolved here once: bwrap would resolve some of them in its half-built root. */
export async function realFolder(path: string, what: string): Promise<Result<string, Failure>> {
  const real = await realpath(path).catch(() => null)
  const found = real === null ? null : await stat(real)
  return real !== null && found?.isDirectory() === true ? ok(real) : err(failure('sandbox-failed', `${what} does not exist.`, 'Start a new task; its folder may have been removed by hand.'))
}

/** Sockets and scripts go below `wantedRunRoot`. */
export function createGrounds(wantedRunRoot: string, bwrap: BwrapChoice): Grounds {
  const mountPoints = createMountPoints()
  const inUse = new Set<string>()
  const readLayout = (): Promise<Result<HostLayout, Failure>> => readHostLayout(bwrap, process.env['PATH'] ?? '')

  async function openFolder(): Promise<RunFolder> {
    const folder = await makeRunFolder(await usableRunRoot(wantedRunRoot))
    inUse.add(folder.path)
    return { ...folder, remove: async () => { await folder.remove(); inUse.delete(folder.path) } }
  }

  async function prepare(workspace: string, mounts: readonly Mount[]): Promise<Result<Ground, Failure>> {
    const layout = await readLayout()
    if (!layout.ok) return layout
    const workspaceDir = await realFolder(workspace, 'The task\'s workspace')
    if (!workspaceDir.ok) return workspaceDir
    const plan = await planMounts(mounts, [await realpath(await usableRunRoot(wantedRunRoot))])
    if (!plan.ok) return plan
    await handOver(workspaceDir.value, true)
    const points = await mountPoints.hold(workspaceDir.value, plan.value.dependencyFolders)
    if (!points.ok) return points
    const folder = await openFolder().catch(async (error: unknown) => { await points.value.release(); throw error })
    const tidy = async (): Promise<void> => { await points.value.release(); await folder.remove() }
    await writeFile(join(folder.path, madeListName), JSON.stringify(points.value.made)).catch(async (error: unknown) => { await tidy(); throw error })
    return ok({ layout: layout.value, folder, workspaceDir: workspaceDir.value, plan: plan.value, masks: points.value.masks, tidy })
  }

  return { readLayout, openFolder, prepare, sweep: async () => { await removeLeftFolders(await usableRunRoot(wantedRunRoot), inUse) } }
}
