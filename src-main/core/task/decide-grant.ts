import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { Digest, GrantId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { Hold } from '../approval/hold.ts'
import { coversAct, grantFor, standingOffer, type Act, type StandingGrant } from '../approval/standing-grant.ts'
import type { DecideContext, OwnerCommand } from './commands.ts'
import { decided, ignored, type Decided } from './decision.ts'
import type { TaskEvent } from './events.ts'
import type { TaskState } from './model.ts'

/**
 * A8. A standing grant comes of one choice that its card offered, named by that choice's digest, together with the approval of the card itself.
 * Gives no event where the owner approved once and no more.
 */
export function grantGiven(state: TaskState, ctx: DecideContext, hold: Hold, chosen: Digest | null): Result<readonly TaskEvent[], Failure> {
  if (chosen === null) return ok([])
  const choice = standingOffer(state.taskId, hold)?.choices.find(({ digest }) => digest === chosen)
  if (choice === undefined) return err(failure('digest-mismatch', 'This card does not offer such a standing grant.', 'Look at the card again and decide on what it shows now.'))
  if (state.grants.size >= limits.standingGrantsMax) return err(failure('wrong-state', `A task has at most ${String(limits.standingGrantsMax)} standing grants.`, 'Approve this once, or start a new task.'))
  const expiresAt = Math.min(state.deadlineAt, choice.forMs === null ? Infinity : ctx.now + choice.forMs)
  const grant: StandingGrant = { grantId: ctx.mint('grt') as GrantId, bot: hold.bot, generation: state.generation, scope: choice.scope, approvalId: hold.approvalId, digest: choice.digest, expiresAt }
  return ok([{ type: 'grant-given', grant }])
}

/** The owner takes a standing grant back: from now on it covers nothing. What runs already goes on, and is stopped with the task. */
export function revokeGrant(state: TaskState, command: Extract<OwnerCommand, { is: 'revoke-grant' }>): Decided {
  const record = state.grants.get(command.grantId)
  if (record === undefined) return err(failure('unknown-approval', 'This standing grant is not known.', 'Look at the task\'s standing grants for what stands now.'))
  return record.revokedAt !== null ? ignored : decided([{ type: 'grant-revoked', grantId: command.grantId }])
}

/** The standing grant that covers what Bot B asks for now; null when the owner has to be asked. */
export function standingFor(state: TaskState, act: Act, ctx: DecideContext): StandingGrant | null {
  return grantFor(state.grants.values(), 'coder', state.generation, act, ctx.now)
}

/** Why the owner is asked again although a standing grant covered this once; null when none ever did. */
function grantEnded(state: TaskState, act: Act): string | null {
  const before = [...state.grants.values()].reverse().find(({ grant }) => grant.bot === 'coder' && coversAct(grant.scope, act))
  if (before === undefined) return null
  return before.revokedAt !== null ? 'You revoked the standing grant that covered this.' : 'The standing grant that covered this has ended.'
}

/** A standing grant as the one who decided. */
export function grantWords(grant: StandingGrant): string {
  return `the owner's standing grant ${grant.grantId}, given on card ${grant.approvalId}`
}

/** Why the owner is asked for what was allowed before. */
export function reask(state: TaskState, act: Act, exactText: string): string | null {
  const again = [...state.holds.values()].some((record) => (record.hold.kind === 'command' || record.hold.kind === 'edit') && record.hold.exact.text === exactText && record.outcome === 'approved')
  return grantEnded(state, act) ?? (again ? 'You approved the same before. Each approval is for one time.' : null)
}
