import { failure } from '../../../src-preload/contract/failure.ts'
import { callIdSchema, type ApprovalId, type CallId, type Digest } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { compareEdit, editDigest, isEditTool } from '../approval/edit-call.ts'
import { makeHold, type Hold } from '../approval/hold.ts'
import { namesBelowWorkspace, type EditedFile } from '../approval/path-pattern.ts'
import type { StandingGrant } from '../approval/standing-grant.ts'
import { utf8Bytes } from '../digest.ts'
import { looksLikeKey } from '../redaction.ts'
import type { DecideContext, HostCommand } from './commands.ts'
import { decided, failTask, ignored, interruptTools, type Decided } from './decision.ts'
import { grantWords, reask, standingFor } from './decide-grant.ts'
import type { TaskEvent } from './events.ts'
import { activeTurn, isFinished, type TaskState } from './model.ts'
import { arrived } from './turns.ts'

type Asked = Extract<HostCommand, { is: 'permission-asked' }>
type Ended = Extract<HostCommand, { is: 'tool-ended' }>
/** Answers an ask. `change`: what the call of a granted edit may do. */
export type Rule = (allow: boolean, by: string, message: string, grant?: StandingGrant, change?: Digest) => Decided

/** Who asks, where it is not Bot B itself. */
export function askedBy(parentCallId: CallId | null | undefined): Hold['facts'] {
  return parentCallId == null ? [] : [{ label: 'Asked by', value: `a subagent of Bot B, begun by its call ${parentCallId}`, exact: true, authoredBy: 'host' }]
}

/** The files of an edit, as a line. */
export function filesText(files: readonly EditedFile[]): string {
  return files.map(({ path }) => path).join(', ')
}

/** The runtime asks before it edits. What is granted, by the owner or by a standing grant, is bound to the call's own input. */
export function editAsked(state: TaskState, ctx: DecideContext, command: Asked, rule: Rule): Decided {
  const denial = leadsOut(command.files)
  if (denial !== null) return rule(false, 'policy', denial)
  if (state.grant.edits === 'allow') return rule(true, 'the task\'s grant', '')
  if (state.grant.edits === 'deny') return rule(false, 'the task\'s grant', 'The task\'s grant denies edits.')
  const bound = boundEdit(command)
  if (!bound.ok) return told(rule(false, 'policy', bound.why), { type: 'noted', level: 'warning', text: `An edit of Bot B was denied unasked. ${bound.why}`, todo: null })
  const standing = standingFor(state, { tool: 'edit', files: command.files }, ctx)
  if (standing !== null) return rule(true, grantWords(standing), '', standing, bound.change)
  return decided([...arrived(state), { type: 'hold-opened', hold: editHold(state, ctx, command, bound) }])
}

interface Bound { readonly ok: true; readonly diff: string; readonly change: Digest; readonly compared: keyof typeof comparedWords }

/** A9. What cannot be shown whole, or is not what its call would do, cannot be approved. */
function boundEdit({ diff, files, edit, callId }: Asked): Bound | { readonly ok: false; readonly why: string } {
  if (diff === null || files.length === 0) return { ok: false, why: 'The edit does not say what it changes, so it cannot be shown.' }
  if (utf8Bytes(diff) > limits.editDiffBytesMax) return { ok: false, why: `The edit is too large to be shown whole: at most ${String(limits.editDiffBytesMax / 1024)} KiB of changes are. Make it in smaller steps.` }
  if (looksLikeKey(diff) || looksLikeKey(filesText(files))) return { ok: false, why: 'The edit holds what looks like a key. That is never kept, so it cannot be shown whole.' }
  const change = edit === undefined || callId === null ? null : editDigest(edit.tool, edit.input)
  if (edit === undefined || change === null) return { ok: false, why: 'The edit names no call that it could be compared with.' }
  const compared = compareEdit(edit, files, diff)
  return compared.is === 'differs' ? { ok: false, why: `The edit cannot be shown as it is: ${compared.why}. Read the file and make the edit again.` } : { ok: true, diff, change, compared: compared.is }
}

/** A ruling, and a word about it to the owner. */
function told(ruled: Decided, word: TaskEvent): Decided {
  return ruled.ok ? decided([...ruled.value.events, word], ruled.value.effects) : ruled
}

/** A3 for edits: a file that leads out of the workspace, by its name or by a link on its way, is never asked about. */
function leadsOut(files: readonly EditedFile[]): string | null {
  // A relative name is one of the runtime's own for a file that it keeps in the workspace: it is shown as it is.
  if (files.some(({ path }) => path.startsWith('/') && !namesBelowWorkspace(path).ok)) return 'A file of this edit is outside the workspace, or its path is not written plainly.'
  return files.some(({ path, real }) => path.startsWith('/') && (real === null || !namesBelowWorkspace(real).ok)) ? 'A file of this edit leads out of the workspace through a link.' : null
}

const comparedWords = {
  derived: 'this change of this call, once; it was worked out from the call and the file, and is what is shown',
  bound: 'this call, once; its change is shown as OpenCode worked it out, for it could not be worked out a second time',
} as const

function editHold(state: TaskState, ctx: DecideContext, command: Asked, bound: Bound): Hold {
  return makeHold(state.taskId, ctx.mint('apr') as ApprovalId, {
    kind: 'edit', bot: 'coder', generation: state.generation, turnId: activeTurn(state)?.turnId ?? null, callId: command.callId, subject: { for: 'permission', permissionId: command.permissionId, command: null },
    title: 'Bot B wants to edit a file', exact: { label: 'Change', text: bound.diff, authoredBy: 'coder' },
    facts: [
      ...askedBy(command.parentCallId),
      ...command.files.flatMap(({ path, real }) => [
        { label: 'File', value: path, exact: true, authoredBy: 'coder' as const },
        ...(real === null || real === path ? [] : [{ label: 'Leads to', value: real, exact: true, authoredBy: 'host' as const }]),
      ]),
      { label: 'Bound', value: comparedWords[bound.compared], exact: false, authoredBy: 'host' as const },
    ],
    isolation: command.isolation, reaskReason: reask(state, { tool: 'edit', files: command.files }, bound.diff), edited: command.files, change: bound.change,
  })
}

/**
 * A9. An edit ended: what its call did is compared with what was granted. Null when it is that. Where a task's grant allows every edit,
 * none was granted singly and there is nothing to compare.
 */
export function editDiffers(state: TaskState, command: Ended, events: readonly TaskEvent[]): Decided | null {
  const leave = state.editLeaves.get(command.callId)
  const unasked = leave === undefined && command.state === 'done' && state.grant.edits !== 'allow' && isEditTool(command.tool)
  if (!unasked && (leave === undefined || (command.change === leave && command.strayed === undefined))) return null
  const strayed = command.change === leave ? command.strayed : undefined
  const differs = strayed === undefined ? `What Bot B's call did to ${command.target ?? 'a file'} is not what was approved.` : `What Bot B's call did is not what was approved: ${strayed}.`
  const what = unasked ? `Bot B edited ${command.target ?? 'a file'} without a leave of yours.` : differs
  return stopFor(state, command.callId, events, what)
}

/** A call's beginning, of which only its end tells. */
export function startOf({ callId, tool, target, input, inputDigest, inputBytes, parentCallId }: Ended): TaskEvent {
  return { type: 'tool-started', callId, tool, target, input, inputDigest, inputBytes, parentCallId: parentCallId ?? null }
}

/** A call's final record. */
export function endOf({ callId, tool, state, output, outputTruncated, exitCode, title }: Ended): TaskEvent {
  return { type: 'tool-ended', callId, tool, state, output, outputTruncated, exitCode, title, reason: null }
}

const idCharsShown = 100

/**
 * A9, P1. An end under the id of a call that has ended is its double and is dropped, unless an edit of another input was made: then it is
 * another call, which the runtime's names did not tell apart. It gets a record of its own. Whose leave it had nobody can tell.
 */
export function editUnderUsedId(state: TaskState, command: Ended): Decided {
  const earlier = state.endedTools.inputOf(command.callId)
  if (command.state !== 'done' || !isEditTool(command.tool) || earlier === null || earlier === command.inputDigest || isFinished(state.status)) return ignored
  const callId = callIdSchema.parse(`${command.callId.slice(0, idCharsShown)}~${command.inputDigest.slice(-16)}`)
  if (state.endedTools.has(callId)) return ignored
  const own = { ...command, callId }
  const events: TaskEvent[] = [startOf(own), endOf(own)]
  if (state.grant.edits === 'allow') return decided([...events, { type: 'noted', level: 'warning', text: `Bot B edited ${command.target ?? 'a file'} in a call that has the id of an earlier call. It has a row and a record of its own.`, todo: 'Look at the diff rather than at the rows: a call that has another one\'s id may be missing there.' }])
  return stopFor(state, callId, events, `Bot B edited ${command.target ?? 'a file'} in a call that has the id of an earlier call, so it cannot be told whether that was allowed.`)
}

/** An edit was made that nobody is known to have allowed: the run ends. */
function stopFor(state: TaskState, edited: CallId, events: readonly TaskEvent[], what: string): Decided {
  const todo = 'Nothing of it was applied. Look at the call\'s row and its card; start the task again if you trust its source.'
  // What comes after the work is told: the result is judged by its own digest, and a run that is stopped is stopped.
  if (state.phase !== 'coding' || state.cancel !== null) return decided([...events, { type: 'noted', level: 'error', text: what, todo }])
  const others = interruptTools({ ...state, openTools: new Map([...state.openTools].filter(([callId]) => callId !== edited)) }, 'The run was stopped.')
  return failTask(state, failure('opencode-failed', `${what} The run was stopped.`, todo), [...events, ...others])
}
