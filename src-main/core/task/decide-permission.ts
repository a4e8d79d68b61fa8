import { failure } from '../../../src-preload/contract/failure.ts'
import type { ApprovalId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { makeHold, type Hold } from '../approval/hold.ts'
import { workspaceRoot } from '../approval/path-pattern.ts'
import type { StandingGrant } from '../approval/standing-grant.ts'
import { utf8Bytes } from '../digest.ts'
import { looksLikeKey } from '../redaction.ts'
import type { DecideContext, HostCommand } from './commands.ts'
import { decided, failTask, ignored, interruptTools, withdrawHolds, type Decided } from './decision.ts'
import { askedBy, editAsked, filesText, type Rule } from './decide-edit.ts'
import { grantWords, reask, standingFor } from './decide-grant.ts'
import { activeTurn, type TaskState } from './model.ts'
import { arrived } from './turns.ts'
import { allWellFormed } from './words.ts'

type Host<K extends HostCommand['is']> = Extract<HostCommand, { is: K }>

/** Whether the task's grant covers a command by itself: the exact test command, in the workspace's root. */
function coveredByGrant(state: TaskState, command: { readonly text: string; readonly cwd: string }): 'allow' | 'ask' | 'deny' {
  if (command.text === state.brief?.brief.testCommand && command.cwd === workspaceRoot) return state.grant.testCommand
  return state.grant.otherCommands
}

/** A3. Hard denials come before any question to the owner. Null: may be asked or granted. */
function hardDenial(command: { readonly text: string; readonly cwd: string }): string | null {
  if (command.cwd !== workspaceRoot && !command.cwd.startsWith(`${workspaceRoot}/`)) return 'The working directory is outside the workspace.'
  // Read as it is written: a path that has to be resolved first is not the path that the card would show.
  if (command.cwd.split('/').some((part) => part === '.' || part === '..')) return 'The working directory is not written plainly.'
  if (!allWellFormed(command)) return 'The command holds half of a character, so it cannot be shown as it is.'
  if (utf8Bytes(command.text) > limits.commandTextBytesMax) return 'The command is too long to be shown whole.'
  if (command.text.includes('\0')) return 'The command contains a NUL character.'
  // What the journal does not keep, no card can show.
  if (looksLikeKey(command.text) || looksLikeKey(command.cwd)) return 'The command holds what looks like a key. That is never kept, so it cannot be shown whole.'
  return null
}

/** The runtime asks before a tool acts. */
export function permissionAsked(state: TaskState, command: Host<'permission-asked'>, ctx: DecideContext): Decided {
  const turn = activeTurn(state)
  if ([...state.holds.values()].some((record) => record.hold.subject.for === 'permission' && record.hold.subject.permissionId === command.permissionId)) return ignored
  const shell = command.command
  const about = shell?.text ?? (command.files.length > 0 ? filesText(command.files) : command.permission)
  const rule: Rule = (allow, by, message, grant, change) => decided(
    [{ type: 'permission-ruled', permissionId: command.permissionId, callId: command.callId, ruling: allow ? 'granted' : 'denied', by, text: about, ...byGrant(grant), ...(change === undefined ? {} : { change }) }],
    [{ kind: 'coder.answerPermission', permissionId: command.permissionId, allow, message, command: allow ? shell : null, ...byGrant(grant) }])
  if (turn === null || state.phase !== 'coding') return rule(false, 'no active turn', 'No turn is active.')
  if (!allWellFormed([command.permissionId, command.callId, command.files, command.diff])) return rule(false, 'policy', 'It holds half of a character, so it cannot be shown as it is.')
  if (command.permission === 'bash' && shell !== null) {
    const denial = hardDenial(shell)
    if (denial !== null) return rule(false, 'policy', denial)
    const covered = coveredByGrant(state, shell)
    if (covered === 'allow') return rule(true, 'the task\'s grant', '')
    if (covered === 'deny') return rule(false, 'the task\'s grant', 'The task\'s grant denies this command.')
    const standing = standingFor(state, { tool: 'bash', ...shell }, ctx)
    if (standing !== null) return rule(true, grantWords(standing), '', standing)
    return decided([...arrived(state), { type: 'hold-opened', hold: commandHold(state, ctx, { for: 'permission', permissionId: command.permissionId, command: shell }, shell, command) }])
  }
  if (command.permission === 'edit') {
    return editAsked(state, ctx, command, rule)
  }
  return unexpected(state, command.permission, rule(false, 'policy', 'No task grants this.'))
}

/** A5. What no task grants is denied and told, and the turn stops: whoever asks for it does something else than the task. */
function unexpected(state: TaskState, permission: string, denial: Decided): Decided {
  const why = failure('opencode-failed', `Bot B asked for "${permission}", which no task grants. It was denied, and the run was stopped.`, 'Look at the rows before it. A snapshot of the workspace is kept; start the task again if you trust its source.')
  const failed = failTask(state, why, interruptTools(state, 'The run was stopped.'))
  return denial.ok && failed.ok ? decided([...denial.value.events, ...failed.value.events], [...denial.value.effects, ...failed.value.effects], 'all') : failed
}

/** A command reached the broker without a grant of its own. */
export function commandAsked(state: TaskState, command: Host<'command-asked'>, ctx: DecideContext): Decided {
  const shell = { text: command.text, cwd: command.cwd }
  const answer = (allow: boolean, by: string, message: string, grant?: StandingGrant): Decided => decided([{ type: 'permission-ruled', permissionId: command.askId, callId: null, ruling: allow ? 'granted' : 'denied', by, text: command.text, ...byGrant(grant) }], [{ kind: 'coder.answerCommand', askId: command.askId, allow, message, ...byGrant(grant) }])
  if (activeTurn(state) === null || state.phase !== 'coding') return answer(false, 'no active turn', 'no turn is active')
  const denial = hardDenial(shell)
  if (denial !== null) return answer(false, 'policy', denial)
  const covered = coveredByGrant(state, shell)
  if (covered !== 'ask') return answer(covered === 'allow', 'the task\'s grant', 'the task\'s grant denies this command')
  const standing = standingFor(state, { tool: 'bash', ...shell }, ctx)
  if (standing !== null) return answer(true, grantWords(standing), '', standing)
  return decided([...arrived(state), { type: 'hold-opened', hold: commandHold(state, ctx, { for: 'command', askId: command.askId, command: shell }, shell, { callId: null, isolation: command.isolation }) }])
}

function byGrant(grant: StandingGrant | undefined): { readonly grantId?: StandingGrant['grantId'] } {
  return grant === undefined ? {} : { grantId: grant.grantId }
}

function commandHold(state: TaskState, ctx: DecideContext, subject: Hold['subject'], shell: { readonly text: string; readonly cwd: string }, { callId, isolation, parentCallId }: Pick<Host<'permission-asked'>, 'callId' | 'isolation' | 'parentCallId'>): Hold {
  const turn = activeTurn(state)
  return makeHold(state.taskId, ctx.mint('apr') as ApprovalId, {
    kind: 'command', bot: 'coder', generation: state.generation, turnId: turn?.turnId ?? null, callId, subject,
    title: 'Bot B wants to run a command', exact: { label: 'Command, exactly as it will run', text: shell.text, authoredBy: 'coder' },
    facts: [
      ...askedBy(parentCallId),
      { label: 'Working directory', value: shell.cwd, exact: true, authoredBy: 'host' },
      { label: 'Environment', value: 'empty but for PATH, HOME, LANG and TMPDIR of the sandbox', exact: false, authoredBy: 'host' },
      ...addedToPath(state),
      { label: 'Network', value: 'none', exact: false, authoredBy: 'host' },
      { label: 'Bound', value: 'this text in this directory, once; not the contents of scripts that it runs', exact: false, authoredBy: 'host' },
    ],
    isolation, reaskReason: reask(state, { tool: 'bash', ...shell }, shell.text),
  })
}

/** What the owner's toolchains change in a command's environment. */
function addedToPath({ source }: TaskState): Hold['facts'] {
  const entries = source.kind === 'folder' ? source.mounts.flatMap(({ pathEntry }) => (pathEntry === null ? [] : [pathEntry])) : []
  return entries.length === 0 ? [] : [{ label: 'Added to PATH', value: entries.join(':'), exact: true, authoredBy: 'host' }]
}

/** A permission of ours was answered by somebody else: the run is not under the owner's control any more. */
export function foreignAnswer(state: TaskState, command: Host<'foreign-permission-answer'>): Decided {
  if (state.phase !== 'coding') return ignored
  return failTask(state, failure('opencode-failed', `A permission was answered (${command.reply}) by something other than you. The run was stopped.`, 'Nothing of it was applied. Look at the commands in the room; start the task again if you trust its source.'), interruptTools(state, 'The run was stopped.'))
}

/** A command that asked at the broker does not wait any more: its card must not be decided as if it did. */
export function askGone(state: TaskState, command: Host<'ask-gone'>): Decided {
  const events = withdrawHolds(state, 'The command does not wait any more.', (subject) => subject.for === 'command')
    .filter((event) => { const subject = event.type === 'hold-settled' ? state.holds.get(event.approvalId)?.hold.subject : undefined; return subject?.for === 'command' && subject.askId === command.askId })
  return events.length === 0 ? ignored : decided(events)
}
