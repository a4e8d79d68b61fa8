import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, PreparedWorkspace } from '../../engine/ports.ts'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { TaskId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { TaskSource } from '../../../src-preload/contract/task.ts'
import { copyFound } from './copy-file.ts'
import { copyDependencies, dependencyMounts } from './dependency-copy.ts'
import { readingListOf } from './reading-list.ts'
import { removeTree } from './remove-tree.ts'
import { firstRules, leftOutNotes, surveyFolder, type Survey, type SurveyPlaces } from './survey.ts'
import { makeRoot, readMeta, replaceFile, taskPaths, type Meta, type TaskPaths } from './task-folder.ts'
import { readManifest, treeDigest, writeManifest } from './tree.ts'
import { usageOf } from './usage.ts'
import { readsAtOnce, tooLargeFailure, walkTree, writesAtOnce } from './walk.ts'

export interface PrepareDeps { readonly root: string; readonly sampleDir: string; readonly clock: Clock; readonly quotaBytes: () => number; readonly places: SurveyPlaces }

/**
 * Copies what counts of a folder twice, as base and workspace, and records it. Nothing is left behind on a failure or abort. Called again for
 * a task that is prepared already, it returns what was recorded and copies nothing.
 */
export async function prepareTask(deps: PrepareDeps, taskId: TaskId, source: TaskSource, signal: AbortSignal): Promise<Result<PreparedWorkspace, Failure>> {
  const paths = taskPaths(deps.root, taskId)
  const recorded = await readMeta(paths)
  if (recorded !== null) return recorded.disposedAt === null ? ok(await preparedFrom(paths, recorded)) : err(failure('wrong-state', 'This task\'s workspace has been disposed of.', 'Start a revision of the task.'))
  const mountPoints = dependencyMounts(source).map((mount) => mount.into)
  const survey = await surveyOf(deps, source, signal)
  if (!survey.ok) return survey
  await makeRoot(deps.root)
  await removeTree(paths.dir)
  const room = await roomFor(deps, survey.value.facts.bytes)
  if (room !== null) return err(room)
  try {
    return ok(await preparedFrom(paths, await copyAll(deps, paths, taskId, source, survey.value, mountPoints, signal)))
  } catch (error) {
    await removeTree(paths.dir)
    throw error
  }
}

/** The sample ships with the app and is surveyed without the refusals that protect an owner's folders. */
async function surveyOf(deps: PrepareDeps, source: TaskSource, signal: AbortSignal): Promise<Result<Survey, Failure>> {
  const survey = source.kind === 'sample' ? await surveySample(deps, signal) : await surveyFolder(source.path, deps.places, signal)
  return survey.facts.refusal === null ? ok(survey) : err(survey.facts.refusal)
}

async function surveySample(deps: PrepareDeps, signal: AbortSignal): Promise<Survey> {
  const path = join(deps.sampleDir, 'project')
  const counted = await walkTree(path, firstRules({ git: null, sources: [] }, []), () => null, { signal, atOnce: readsAtOnce, filesMax: 1_000, bytesMax: 2 ** 24, tooLarge: (files, bytes) => tooLargeFailure(files, bytes, 1_000, 2 ** 24) })
  return { facts: { path, label: 'Sample', git: null, files: counted.files, bytes: counted.bytes, notes: [], proposals: [], testCommands: [], refusal: null }, git: null, sources: [] }
}

async function roomFor(deps: PrepareDeps, bytes: number): Promise<Failure | null> {
  const quota = deps.quotaBytes()
  const used = (await usageOf(deps.root)).reduce((sum, use) => sum + use.bytes, 0)
  if (used + 2 * bytes <= quota) return null
  const mib = (amount: number): string => `${Math.ceil(amount / 2 ** 20).toLocaleString('en')} MiB`
  return failure('quota-exceeded', `Workspaces take ${mib(used)}; this task needs ${mib(2 * bytes)} more, and ${mib(quota)} are allowed in all.`, 'Dispose of old workspaces in Settings, or allow more.')
}

async function copyAll(deps: PrepareDeps, paths: TaskPaths, taskId: TaskId, source: TaskSource, survey: Survey, mountPoints: readonly string[], signal: AbortSignal): Promise<Meta> {
  for (const dir of [paths.dir, paths.base, paths.workspace, paths.state]) await mkdir(dir, { mode: 0o700 })
  const rules = firstRules(survey, mountPoints)
  const copies = [paths.base, paths.workspace]
  const walked = await walkTree(survey.facts.path, rules, (found) => copyFound(found, copies), {
    signal, atOnce: writesAtOnce, filesMax: limits.folderFilesMax, bytesMax: limits.folderBytesMax, tooLarge: (files, bytes) => tooLargeFailure(files, bytes, limits.folderFilesMax, limits.folderBytesMax),
    onFolder: async (path) => {
      if (path !== '') for (const copy of copies) await mkdir(join(copy, path))
    },
  })
  const notes = [...survey.facts.notes.filter((note) => !note.startsWith('Left out')), ...leftOutNotes(walked.leftOut), ...(await copyDependencies(source, paths.workspace, signal))]
  await writeManifest(paths.manifest, walked.taken)
  const meta: Meta = {
    version: 1, taskId, source, folder: survey.facts.path, preparedAt: deps.clock.now(), baseDigest: await treeDigest(walked.taken), baseCommit: survey.git?.commit ?? null,
    files: walked.files, bytes: walked.bytes, notes, rules: { prefix: rules.prefix, sources: [...rules.sources], mountPoints: [...mountPoints] }, disposedAt: null,
  }
  signal.throwIfAborted()
  await replaceFile(paths.meta, JSON.stringify(meta))
  return meta
}

async function preparedFrom(paths: TaskPaths, meta: Meta): Promise<PreparedWorkspace> {
  const list = await readingListOf(paths.base, await readManifest(paths.manifest, meta.baseDigest))
  return {
    workspaceDir: paths.workspace, stateDir: paths.state, baseDigest: meta.baseDigest, baseCommit: meta.baseCommit, files: meta.files, bytes: meta.bytes,
    notes: [...meta.notes, ...list.notes], listing: list.listing, readme: list.readme,
  }
}
