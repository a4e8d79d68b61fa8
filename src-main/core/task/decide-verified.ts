import { failure } from '../../../src-preload/contract/failure.ts'
import type { TurnId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import type { Verification } from '../../../src-preload/contract/task.ts'
import { reserve, type Charge } from '../budget/budget.ts'
import { messageCharge, turnCharge } from '../budget/charge.ts'
import type { DecideContext, HostCommand } from './commands.ts'
import { needsProviderHold } from './decide-brief.ts'
import { reviewed } from './decide-result.ts'
import { expired } from './decide-stop.ts'
import { decided, ignored, type Decided } from './decision.ts'
import type { TaskEvent } from './events.ts'
import type { TaskState } from './model.ts'
import { post } from './post.ts'
import { correctionWaits, topUpHold } from './top-up.ts'
import { startTurn } from './turns.ts'
import { correctionText } from './turn-text.ts'
import { clip, jsonBytes } from './words.ts'

const correctionCharsMax = 12_000
/** Of a correction's payload beside its text and test command. */
const correctionFrameBytes = 256
/** A turn, and room for the correction and the result that answers it. */
const correctionCharge: Charge = { ...turnCharge, messages: 2 * messageCharge.messages }

/** Bot A's own re-run is over. */
export function verified(state: TaskState, command: Extract<HostCommand, { is: 'verified' }>, ctx: DecideContext): Decided {
  if (state.phase !== 'verifying' || state.verification !== null) return ignored
  return afterVerification(state, ctx, command.verification, [{ type: 'verification-ended', verification: command.verification }])
}

/**
 * A failure that Bot B can mend goes back to it. B6. Where the budget does not allow that, the owner is asked for what it takes; where no cap can be
 * raised so far, time is up, or nothing can be mended, the result as it is goes to the owner.
 */
export function afterVerification(state: TaskState, ctx: DecideContext, verification: Verification, before: readonly TaskEvent[]): Decided {
  if (verification.passed || verification.failure !== null || ctx.now >= state.deadlineAt) return toReview(state, ctx, verification, before)
  const testCommand = state.brief?.brief.testCommand ?? state.testCommand ?? ''
  const text = clip(correctionText(verification), correctionCharsMax, limits.taskInputBytesMax - correctionFrameBytes - jsonBytes(testCommand))
  const room = reserve(state.spending, state.budget, 'correction-and-result', correctionCharge)
  if (room.ok) return correct(state, ctx, text, testCommand, before)
  const hold = topUpHold(state, ctx, 'coder', room.error, correctionCharge, { do: 'turn', kind: 'correction', text })
  return hold === null ? toReview(state, ctx, verification, before) : decided([...before, hold])
}

/** The owner did not raise the cap for a correction, or time ran out meanwhile: what there is is the result. Null: no correction waits. */
export function withoutCorrection(state: TaskState, ctx: DecideContext, before: readonly TaskEvent[]): Decided | null {
  return correctionWaits(state) && state.verification !== null ? toReview(state, ctx, state.verification, before) : null
}

/** Time is up while the owner is asked for a correction's budget. Null: that is not so. */
export function correctionOverdue(state: TaskState, ctx: DecideContext): Decided | null {
  return state.cancel === null ? withoutCorrection(state, ctx, expired(state, 'the deadline passed')) : null
}

/** Bot A reviews what it saw. A2. A lead whose provider was never approved says nothing; the owner has the host's facts. */
function toReview(state: TaskState, ctx: DecideContext, verification: Verification, before: readonly TaskEvent[]): Decided {
  if (!needsProviderHold(state, 'lead')) return decided([...before, { type: 'lead-asked', purpose: 'review' }], [{ kind: 'lead.review' }])
  const asked: TaskState = { ...state, verification, verified: verification.passed, phase: 'reviewing' }
  const ready = reviewed(asked, { failure: failure('provider-refused', 'Its provider was not approved for this task.', 'Look at the evidence yourself.') }, ctx)
  return ready.ok ? decided([...before, ...ready.value.events], ready.value.effects) : ready
}

/** The result goes back to Bot B: an envelope that replies to it and belongs to the new turn, whose text is the envelope's. The approved input stays what it is. */
function correct(state: TaskState, ctx: DecideContext, text: string, testCommand: string, before: readonly TaskEvent[]): Decided {
  const envelope = (turnId: TurnId): TaskEvent => post(state, ctx, 'lead', 'request', turnId, { requirement: text, goal: 'Mend the result that this replies to.', scope: '', criteria: [], testCommand, excerpts: [] })
  return startTurn(state, ctx, { kind: 'correction', text, envelope }, before)
}
