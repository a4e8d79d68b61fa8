import type { EffectKind } from '../core/task/effects.ts'

type JournalPoint = `${'commit' | 'start' | 'end'}:before` | 'commit:inside' | `${'commit' | 'start' | 'end'}:after`
type FolderPoint = `apply:${'intent-written' | 'staged-one' | 'before-step' | 'step-done' | 'steps-done' | 'settled-one'}` | `dispose:${'before' | 'snapshot-kept' | 'recorded' | 'after'}`

/** A place at which a test ends the app. */
export type Failpoint = JournalPoint | `${EffectKind}:${'before' | 'after'}` | `receipt:${'before' | 'after'}` | FolderPoint

/** Every place, with what is on record and what has happened there. Complete by type, so that a test that goes through the list forgets none. */
export const failpoints = {
  'commit:before': 'decided, nothing written',
  'commit:inside': 'written, not committed',
  'commit:after': 'committed, nobody has heard of it',
  'start:before': 'an effect is committed, not marked as started',
  'start:after': 'it is marked as started, nothing was touched',
  'end:before': 'an effect without an outcome to tell is over, not marked so',
  'end:after': 'it is marked as over',
  'receipt:before': 'an outcome is known, not on record',
  'receipt:after': 'an outcome is on record',
  // Each effect: `before` nothing of the outside was touched; `after` it was, and what came of it is in memory only.
  'workspace.prepare:before': 'no copy of the folder was begun', 'workspace.prepare:after': 'the copy stands',
  'lead.brief:before': 'Bot A was not asked', 'lead.brief:after': 'Bot A has answered',
  'lead.answer:before': 'Bot A was not asked', 'lead.answer:after': 'Bot A has answered',
  'lead.review:before': 'Bot A was not asked', 'lead.review:after': 'Bot A has answered',
  'coder.start:before': 'no process', 'coder.start:after': 'a process runs that nobody has on record',
  'coder.session:before': 'no session', 'coder.session:after': 'a session that is not bound',
  'coder.submit:before': 'the turn was not sent', 'coder.submit:after': 'the turn was sent, and answered or not',
  'coder.answerQuestion:before': 'the answer was not given', 'coder.answerQuestion:after': 'the runtime has the answer',
  'coder.answerPermission:before': 'neither grant nor answer', 'coder.answerPermission:after': 'the runtime has the answer',
  'coder.answerCommand:before': 'the command waits', 'coder.answerCommand:after': 'the command runs or was refused',
  'coder.reconcile:before': 'history was not read', 'coder.reconcile:after': 'history was read',
  'coder.stop:before': 'the process runs', 'coder.stop:after': 'its tree is empty',
  'evidence.collect:before': 'the workspace was not compared', 'evidence.collect:after': 'it was compared',
  'verify.run:before': 'no clean copy', 'verify.run:after': 'the clean copy was tested and is gone',
  'workspace.apply:before': 'the owner\'s folder is as it was', 'workspace.apply:after': 'the result is in the folder, or was refused',
  'workspace.observe:before': 'the folder was not looked at', 'workspace.observe:after': 'it was looked at',
  'workspace.dispose:before': 'the workspace stands', 'workspace.dispose:after': 'the workspace is gone',
  'apply:intent-written': 'the steps are on disk, nothing was touched',
  'apply:staged-one': 'a new file lies beside its place',
  'apply:before-step': 'the swap has begun',
  'apply:step-done': 'a file is in its place',
  'apply:steps-done': 'all are in their places, the old ones beside them',
  'apply:settled-one': 'an old file was removed',
  'dispose:before': 'no snapshot',
  'dispose:snapshot-kept': 'the snapshot is complete, nothing was removed',
  'dispose:recorded': 'the disposal is on record, the folders stand',
  'dispose:after': 'the folders are gone',
} as const satisfies Record<Failpoint, string>

// Marked for the bundler, so that the list is left out where nothing asks for it.
export const failpointNames = /* @__PURE__ */ Object.keys(failpoints) as Failpoint[]

/** What a test does at a failpoint: end the app there, or hold it by a promise that does not resolve. */
export type FailpointHook = (name: Failpoint) => unknown
/** What carries the hook of one life of the app. */
export interface Failing { readonly failpoint?: FailpointHook }

/**
 * A failpoint. Each call is a statement and a line of its own: the release build leaves those lines out (build/release/failpoints.ts), so that
 * nothing of it ships.
 */
export function failpoint(life: Failing, name: Failpoint): unknown {
  return life.failpoint?.(name)
}
