import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { Digest } from '../../../src-preload/contract/ids.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { failpoint, type Failing } from '../../engine/failpoints.ts'
import { readIntent, writeIntent, type ApplyIntent, type ApplyStep } from './apply-intent.ts'
import { planSteps } from './apply-plan.ts'
import { doStep, settleStep, stageStep, stateOfStep, syncFoldersOf, undoStep } from './apply-step.ts'
import { changesBetween } from './changes.ts'
import { compareWorkspace, readTree, wholePatch, type Comparison } from './diff.ts'
import { systemCode, unless, WorkspaceFault } from './fault.ts'
import { sha256Of } from './seal.ts'
import { shortList } from './survey.ts'
import { replaceFile, type Meta, type TaskPaths } from './task-folder.ts'

export interface ApplyDeps extends Failing { readonly paths: TaskPaths; readonly meta: Meta; readonly patchPath: string }
export interface Applied { readonly how: 'folder' | 'patch-file'; readonly detail: string; readonly patchPath: string | null }

/**
 * Applies a task's result: to the owner's folder all or nothing, or as a patch file for the sample. Refused (`digest-mismatch`) when the workspace
 * is not the tree that was accepted, and (`folder-changed`) when anything that was copied has changed in the folder, with names; then nothing was touched.
 */
export async function applyResult(deps: ApplyDeps, expected: Digest): Promise<Result<Applied, Failure>> {
  const earlier = await recoverApply(deps, expected)
  if (earlier === 'unclear') return err(failure('apply-failed', 'An earlier apply of this task was interrupted, and the folder has changed since.', 'Compare the folder with the patch by hand.'))
  if (earlier === 'applied') return ok(await appliedBefore(deps))
  const comparison = await compareWorkspace(deps.paths, deps.meta, new AbortController().signal)
  if (comparison.now.digest !== expected) return err(failure('digest-mismatch', 'The workspace is not any more the tree that was accepted.', 'Verify the result again.'))
  if (deps.meta.source.kind === 'sample') return ok(await leavePatch(deps, comparison, expected))
  const changed = await changedUnderneath(deps.meta.folder, comparison)
  return changed === null ? applyToFolder(deps, comparison, expected) : err(changed)
}

async function appliedBefore(deps: ApplyDeps): Promise<Applied> {
  const intent = await readIntent(deps.paths.applyIntent)
  const how = intent?.how ?? 'folder'
  return { how, detail: intent?.detail ?? '', patchPath: how === 'patch-file' ? deps.patchPath : null }
}

async function leavePatch(deps: ApplyDeps, comparison: Comparison, expected: Digest): Promise<Applied> {
  const patch = await wholePatch(comparison, deps.paths, new AbortController().signal)
  await mkdir(join(deps.patchPath, '..'), { recursive: true })
  await replaceFile(deps.patchPath, patch, 0o644)
  const detail = `The changes are in ${deps.patchPath}.`
  await writeIntent(deps.paths.applyIntent, { version: 1, taskId: deps.meta.taskId, expected, how: 'patch-file', folder: deps.meta.folder, state: 'done', steps: [], detail: `${detail} sha256 ${sha256Of(patch)}` })
  return { how: 'patch-file', detail, patchPath: deps.patchPath }
}

/** Compares the whole folder, by the task's rules, with what was copied: verification spoke of this base and no other. */
async function changedUnderneath(folder: string, comparison: Comparison): Promise<Failure | null> {
  const todo = 'Start a revision from the folder as it is now, or save the patch and apply it by hand.'
  const now = await unless(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'], readTree(folder, comparison.rules, new AbortController().signal))
  if (now === null) return failure('folder-changed', `The folder ${folder} is not there any more, or cannot be read.`, todo)
  const changes = changesBetween(comparison.base, now.entries)
  if (changes.length === 0) return null
  return failure('folder-changed', `The folder changed since the task began: ${shortList(changes.map((change) => `${change.path} (${change.is})`))}. Nothing was touched.`, todo)
}

async function applyToFolder(deps: ApplyDeps, comparison: Comparison, expected: Digest): Promise<Result<Applied, Failure>> {
  const folder = deps.meta.folder
  const steps = await planSteps(folder, comparison.changes)
  const files = comparison.changes.length
  const first: ApplyIntent = { version: 1, taskId: deps.meta.taskId, expected, how: 'folder', folder, state: 'staging', steps: [...steps], detail: `${files} ${files === 1 ? 'file' : 'files'} changed in ${folder}.` }
  await writeIntent(deps.paths.applyIntent, first)
  try {
    await failpoint(deps, 'apply:intent-written')
    for (const step of steps) {
      if (step.does !== 'put') continue
      await stageStep(folder, step, deps.paths.workspace)
      await failpoint(deps, 'apply:staged-one')
    }
    await syncFoldersOf(folder, steps)
    await writeIntent(deps.paths.applyIntent, { ...first, state: 'swapping' })
    await runSteps(deps, folder, steps)
  } catch (error) {
    return undoAfter(deps, first, error)
  }
  return ok({ how: 'folder', detail: await settleOrSay(deps, { ...first, state: 'settling' }), patchPath: null })
}

/** The result is in the folder whatever happens now: old files that cannot be removed are named, and tried again by `recoverApply`. */
async function settleOrSay(deps: ApplyDeps, intent: ApplyIntent): Promise<string> {
  try {
    await settle(deps, intent)
    return intent.detail
  } catch (error) {
    if (systemCode(error) === null || !(error instanceof Error)) throw error
    return `${intent.detail} Some old files, with .countersign- in their names, could not be removed yet (${error.message}).`
  }
}

async function runSteps(deps: ApplyDeps, folder: string, steps: readonly ApplyStep[]): Promise<void> {
  for (const step of steps) {
    await failpoint(deps, 'apply:before-step')
    await doStep(folder, step)
    await failpoint(deps, 'apply:step-done')
  }
  await syncFoldersOf(folder, steps)
  await failpoint(deps, 'apply:steps-done')
}

async function settle(deps: ApplyDeps, intent: ApplyIntent): Promise<void> {
  await writeIntent(deps.paths.applyIntent, intent)
  for (const step of intent.steps) {
    await settleStep(intent.folder, step)
    await failpoint(deps, 'apply:settled-one')
  }
  await writeIntent(deps.paths.applyIntent, { ...intent, state: 'done' })
}

/** Puts everything back after `cause`. When even that fails, the record says so and names stay for the owner to see. */
async function undoAfter(deps: ApplyDeps, intent: ApplyIntent, cause: unknown): Promise<Result<never, Failure>> {
  try {
    await undo(deps, intent)
  } catch (error) {
    await writeIntent(deps.paths.applyIntent, { ...intent, state: 'stuck' })
    const why = error instanceof Error ? error.message : String(error)
    return err(failure('apply-failed', `Applying failed (${cause instanceof Error ? cause.message : String(cause)}), and putting back failed too (${why}).`, `Look for names with .countersign- in ${intent.folder}: they hold the old files.`))
  }
  if (cause instanceof WorkspaceFault) return err(cause.failure)
  throw cause
}

async function undo(deps: ApplyDeps, intent: ApplyIntent): Promise<void> {
  await writeIntent(deps.paths.applyIntent, { ...intent, state: 'undoing' })
  for (const step of [...intent.steps].reverse()) await undoStep(intent.folder, step)
  await writeIntent(deps.paths.applyIntent, { ...intent, state: 'undone' })
}

/**
 * Brings an interrupted apply to an end and says what came of it. Staged only: taken back. Steps begun: finished, if every path is still as the
 * steps left or expect it; otherwise `unclear`, and nothing is touched. Without an interruption it only reads.
 */
export async function recoverApply(deps: ApplyDeps, expected: Digest): Promise<'applied' | 'not-applied' | 'unclear'> {
  const intent = await readIntent(deps.paths.applyIntent)
  if (intent === null || intent.state === 'undone') return 'not-applied'
  if (intent.state === 'stuck') return 'unclear'
  if (intent.state === 'staging' || intent.state === 'undoing') {
    await undo(deps, intent)
    return 'not-applied'
  }
  if (intent.expected !== expected) return 'unclear'
  if (intent.how === 'patch-file') return (await unless(['ENOENT'], readFile(deps.patchPath))) === null ? 'not-applied' : 'applied'
  if (intent.state === 'settling') await settle(deps, intent)
  return intent.state === 'swapping' ? finishSteps(deps, intent) : 'applied'
}

async function finishSteps(deps: ApplyDeps, intent: ApplyIntent): Promise<'applied' | 'unclear'> {
  const todo: ApplyStep[] = []
  for (const step of intent.steps) {
    const state = await stateOfStep(intent.folder, step)
    if (state === 'unknown') return 'unclear'
    if (state === 'todo') todo.push(step)
  }
  await runSteps(deps, intent.folder, todo)
  await settle(deps, { ...intent, state: 'settling' })
  return 'applied'
}
