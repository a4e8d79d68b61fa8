import type { GrantScope, StandingChoice, StandingGrantView, StandingOffer } from '../../../src-preload/contract/grants.ts'
import type { ApprovalId, Bot, Digest, Generation, GrantId, Millis, TaskId } from '../../../src-preload/contract/ids.ts'
import { digestOf } from '../digest.ts'
import type { Hold } from './hold.ts'
import { explainCommand, plainCommand } from './plain-command.ts'
import { namesBelowWorkspace, patternCovers, workspaceRoot, type EditedFile } from './path-pattern.ts'

/** The owner's leave for one bot of one task, for as long as it stands. It never reaches beyond what the sandbox lets happen. */
export interface StandingGrant {
  readonly grantId: GrantId
  readonly bot: Bot
  readonly generation: Generation
  readonly scope: GrantScope
  /** The card that it was given on, and the digest of the choice that the owner confirmed there. */
  readonly approvalId: ApprovalId
  readonly digest: Digest
  readonly expiresAt: Millis
}

/** A standing grant with what has become of it. */
export interface GrantRecord { readonly grant: StandingGrant; readonly givenAt: Millis; readonly revokedAt: Millis | null; readonly uses: number; readonly lastUsedAt: Millis | null }

/** What asks for leave, as far as a standing grant looks at it. */
export type Act = { readonly tool: 'bash'; readonly text: string; readonly cwd: string } | { readonly tool: 'edit'; readonly files: readonly EditedFile[] }

/** How long a grant may be given for, besides “until the task's deadline”. */
export const standingForMs = [10 * 60_000, 60 * 60_000] as const

/** The standing grants that a card offers beside its one approval. Null for a card about anything but a command or an edit. */
export function standingOffer(taskId: TaskId, hold: Hold): StandingOffer | null {
  const offered = offeredScopes(hold)
  if (offered === null) return null
  const choices = offered.scopes.flatMap((scope) => [...standingForMs, null].map((forMs): StandingChoice => ({ scope, forMs, digest: choiceDigest(taskId, hold, scope, forMs) })))
  return { explained: offered.explained, choices }
}

/** A5. Digest of one choice: whose, for which task, on which card, for what and for how long. */
function choiceDigest(taskId: TaskId, hold: Hold, scope: GrantScope, forMs: number | null): Digest {
  return digestOf({ is: 'standing-grant', taskId, bot: hold.bot, generation: hold.generation, approvalId: hold.approvalId, card: hold.digest, scope, forMs })
}

function offeredScopes({ subject, edited }: Hold): { readonly explained: string; readonly scopes: readonly GrantScope[] } | null {
  const command = subject.for === 'command' || subject.for === 'permission' ? subject.command : null
  if (command !== null) {
    const read = plainCommand(command.text)
    return read.ok ? { explained: explainCommand(read.value), scopes: [{ tool: 'bash', ...command }] } : { explained: `Only one run at a time: ${read.error}.`, scopes: [] }
  }
  if (subject.for !== 'permission' || edited === undefined) return null
  const scopes = editScopes(edited)
  return scopes.length === 0 ? { explained: 'Only one edit at a time: its files are not each one plain path in the workspace.', scopes } : { explained: 'Edits by Bot B of files in its copy of your folder. Links that lead elsewhere and names that begin with a dot are not covered.', scopes }
}

/** The one file, and everything below its folder. Several files at once are not offered: a pattern for them would be a guess. */
function editScopes(files: readonly EditedFile[]): readonly GrantScope[] {
  const [file, another] = files
  // A file may be named like a pattern: its one name must not be taken for one.
  if (file === undefined || another !== undefined || file.real !== file.path || file.path.includes('*')) return []
  const folder = `${file.path.slice(0, file.path.lastIndexOf('/'))}/**`
  return [file.path, folder].filter((pattern) => patternCovers(pattern, file.path)).map((pattern) => ({ tool: 'edit', pattern }))
}

/** A6. Whether a grant can be used now: not revoked, not expired, and of the task's present generation. By a clock that was set back to before it was given, nobody can tell. */
export function stands(record: GrantRecord, generation: Generation, now: Millis): boolean {
  return record.revokedAt === null && record.givenAt <= now && now < record.grant.expiresAt && record.grant.generation === generation
}

/**
 * A7. Whether a grant covers an act of its bot: every byte of the command and its directory, or each file by its written and by its real path.
 * What the parser does not read is covered by nothing, whatever was granted.
 */
export function coversAct(scope: GrantScope, act: Act): boolean {
  if (scope.tool === 'bash') return act.tool === 'bash' && act.text === scope.text && act.cwd === scope.cwd && inWorkspace(act.cwd) && plainCommand(act.text).ok
  if (act.tool !== 'edit' || act.files.length === 0) return false
  return act.files.every(({ path, real }) => real !== null && patternCovers(scope.pattern, path) && patternCovers(scope.pattern, real))
}

function inWorkspace(cwd: string): boolean {
  return cwd === workspaceRoot || namesBelowWorkspace(cwd).ok
}

/** The grant that covers an act now, the oldest first; null when none does. */
export function grantFor(grants: Iterable<GrantRecord>, bot: Bot, generation: Generation, act: Act, now: Millis): StandingGrant | null {
  for (const record of grants) if (record.grant.bot === bot && stands(record, generation, now) && coversAct(record.grant.scope, act)) return record.grant
  return null
}

/** A grant as it is listed. `finished`: the task has come to its end, and its grants with it. */
export function grantView(record: GrantRecord, generation: Generation, finished: boolean): StandingGrantView {
  const { grantId, bot, scope, digest, approvalId, expiresAt } = record.grant
  const { givenAt, revokedAt, uses, lastUsedAt } = record
  const read = scope.tool === 'bash' ? plainCommand(scope.text) : null
  const explained = read === null ? 'Edits of these files in Bot B\'s copy of your folder, by their real paths.' : read.ok ? explainCommand(read.value) : `Covers nothing: ${read.error}.`
  return { grantId, bot, scope, explained, digest, approvalId, givenAt, expiresAt, uses, lastUsedAt, revokedAt, stands: revokedAt === null && !finished && record.grant.generation === generation }
}
