import type { ApprovalId, Bot, CallId, Digest, Generation, Millis, TurnId } from '../../../src-preload/contract/ids.ts'
import type { CardFact, HoldKind, HoldOutcome } from '../../../src-preload/contract/rows.ts'
import type { Author, TaskId } from '../../../src-preload/contract/ids.ts'
import type { BudgetLimits, RaiseOffer } from '../../../src-preload/contract/task.ts'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { digestOf } from '../digest.ts'
import type { EditedFile } from './path-pattern.ts'

/** What a hold releases when it is approved. */
export type HoldSubject =
  | { readonly for: 'brief'; readonly inputVersion: number }
  | { readonly for: 'provider'; readonly bot: Bot }
  | { readonly for: 'permission'; readonly permissionId: string; readonly command: { readonly text: string; readonly cwd: string } | null }
  | { readonly for: 'command'; readonly askId: string; readonly command: { readonly text: string; readonly cwd: string } }
  | { readonly for: 'acceptance'; readonly treeDigest: Digest }
  | { readonly for: 'budget'; readonly raised: BudgetLimits; readonly acceptsUnknown: boolean; readonly offer?: RaiseOffer; readonly then?: PausedStep }

/** What the budget did not allow, and what the owner's top-up lets go on: a turn to start, a result to send back, or a question of Bot B to hand over. */
export type PausedStep =
  | { readonly do: 'turn'; readonly kind: 'continue' | 'answer' | 'correction'; readonly text: string }
  | { readonly do: 'question'; readonly upstreamId: string; readonly text: string; readonly options: readonly string[] }

/** Something that waits for the owner. One-shot: bound to one bot and to the digest of exact content. */
export interface Hold {
  readonly approvalId: ApprovalId
  readonly kind: HoldKind
  readonly bot: Bot
  readonly generation: Generation
  readonly turnId: TurnId | null
  readonly callId: CallId | null
  readonly subject: HoldSubject
  readonly digest: Digest
  readonly title: string
  readonly exact: { readonly label: string; readonly text: string; readonly authoredBy: Author }
  readonly facts: readonly CardFact[]
  readonly isolation: string
  readonly reaskReason: string | null
  /** The files of an edit; what they say of it stands in the facts, which the digest covers. */
  readonly edited?: readonly EditedFile[]
  /** Of an edit: what its call may do. */
  readonly change?: Digest
}

/** A hold with what has become of it. */
export interface HoldRecord { readonly hold: Hold; readonly openedAt: Millis; readonly order: number; readonly shownAt: Millis | null; readonly alarm: boolean; readonly outcome: HoldOutcome }

/** A1. The digest covers kind, bot, task, generation, turn, call, subject and the exact text: nothing else can be released by it. */
export function holdDigest(taskId: TaskId, hold: Omit<Hold, 'digest' | 'approvalId'>): Digest {
  return digestOf({
    kind: hold.kind, bot: hold.bot, taskId, generation: hold.generation, turnId: hold.turnId, callId: hold.callId,
    subject: hold.subject, exact: hold.exact, facts: hold.facts, isolation: hold.isolation, change: hold.change,
  })
}

/** Builds a hold and its digest. */
export function makeHold(taskId: TaskId, approvalId: ApprovalId, content: Omit<Hold, 'digest' | 'approvalId'>): Hold {
  return { ...content, approvalId, digest: holdDigest(taskId, content) }
}

/**
 * A1. What was approved is what is shown: a card whose content is not any more what its digest was made of, since the journal keeps no key and the
 * content held one, shows something else than would run. It can be denied only.
 */
export function refuseConcealed(taskId: TaskId, hold: Hold): Result<null, Failure> {
  if (holdDigest(taskId, hold) === hold.digest) return ok(null)
  return err(failure('digest-mismatch', 'This card cannot show what it asks for: it holds a key, or what looks like one, and those are never kept.', 'Deny it, and have it asked again without the key.'))
}

/**
 * Whether the owner's decision may settle this hold now. Refuses: unknown, of another digest, of an older generation, settled before, not
 * shown, or faster than a person. A replay grants nothing, and what is refused uses nothing up.
 */
export function checkDecision(record: HoldRecord | undefined, digest: Digest, generation: Generation, now: Millis): Result<Hold, Failure> {
  if (record === undefined) return err(failure('unknown-approval', 'This approval is not known.', 'Look at the Approvals tray for what waits now.'))
  if (record.outcome !== 'waiting') return err(failure('already-decided', `This approval was ${record.outcome} before.`, 'Nothing more happened. Look at the room for its outcome.'))
  if (record.hold.digest !== digest) return err(failure('digest-mismatch', 'What was shown is not what waits now.', 'Look at the card again and decide on what it shows now.'))
  if (record.hold.generation !== generation) return err(failure('stale-approval', 'The task was stopped after this was asked.', 'Nothing more happened.'))
  return unread(record, now) ?? ok(record.hold)
}

/**
 * A4. Nobody decides on what was not on screen, or sooner after it came there than a person can read. A clock that was set back says nothing
 * about the owner: then the receipt alone counts.
 */
function unread({ shownAt }: HoldRecord, now: Millis): Result<never, Failure> | null {
  if (shownAt === null) return err(failure('not-shown', 'This approval was not shown to anybody yet.', 'Look at the card, then decide. It still waits.'))
  const sinceShown = now - shownAt
  if (sinceShown < 0 || sinceShown >= limits.humanDecisionMs) return null
  return err(failure('too-fast', 'This decision came faster than a person can read the card.', 'Look at the card, then decide. It still waits.'))
}
