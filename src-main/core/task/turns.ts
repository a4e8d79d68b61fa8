import { failure } from '../../../src-preload/contract/failure.ts'
import type { TurnId } from '../../../src-preload/contract/ids.ts'
import { digestOf } from '../digest.ts'
import type { PausedStep } from '../approval/hold.ts'
import { turnCharge } from '../budget/charge.ts'
import { affordable } from './budget.ts'
import type { DecideContext } from './commands.ts'
import { deadlineFailure } from './decide-stop.ts'
import { decided, failTask, type Decided } from './decision.ts'
import type { Effect } from './effects.ts'
import type { TaskEvent, TurnKind } from './events.ts'
import { activeTurn, type TaskState } from './model.ts'
import { stepWaits, topUpHold } from './top-up.ts'

/** What a new turn carries; `continues` names a message whose loop goes on (an answered live question) instead of a new one. */
export interface TurnContent { readonly kind: TurnKind; readonly text: string; readonly continues?: { readonly messageId: string; readonly effect: (turnId: TurnId) => Effect }; /** What goes into the room with the turn. */ readonly envelope?: (turnId: TurnId) => TaskEvent }

/** Whether the budget has a turn left. */
function turnsLeft(state: TaskState): boolean {
  return affordable(state, 'next-turn', turnCharge).ok
}

/**
 * Intends a turn: recorded with its key and content digest before anything is sent.
 * T2. At most one turn is in flight; the same key never carries other content. Starts the coder first where it is not running.
 */
export function startTurn(state: TaskState, ctx: DecideContext, content: TurnContent, before: readonly TaskEvent[] = []): Decided {
  // C3. Time may have passed asleep, before the clock tells.
  if (ctx.now >= state.deadlineAt) return failTask(state, deadlineFailure, before)
  if (!turnsLeft(state)) {
    const paused = content.kind === 'continue' || content.kind === 'answer' ? pausedTurn(state, ctx, { do: 'turn', kind: content.kind, text: content.text }) : null
    if (paused !== null && content.continues === undefined) return decided([...before, ...paused])
    return failTask(state, failure('budget-exhausted', `All ${String(state.budget.turnsMax)} turns of this task are used.`, 'Start a new task with a larger budget.'), before)
  }
  const turnId = ctx.mint('turn') as TurnId
  const ids = content.continues === undefined ? ctx.messageIds() : { messageId: content.continues.messageId, partId: ctx.mint('part') }
  const intended: TaskEvent = { type: 'turn-intended', turnId, kind: content.kind, ...ids, text: content.text, contentDigest: digestOf({ taskId: state.taskId, generation: state.generation, turnId, text: content.text }) }
  const said: TaskEvent[] = content.envelope === undefined ? [] : [content.envelope(turnId)]
  if (content.continues !== undefined) return decided([...before, ...said, intended], [content.continues.effect(turnId)])
  // A start that is under way submits the turn that it finds intended: there is never a second process.
  if (state.coder.is === 'starting') return decided([...before, ...said, intended])
  if (state.coder.is === 'running' && state.sessionId !== null) return decided([...before, ...said, intended], [{ kind: 'coder.submit', turnId }])
  return decided([...before, ...said, intended, { type: 'coder-start-intended', sessionTitle: sessionTitle(state) }], [{ kind: 'coder.start' }])
}

/** B6. Without a turn in the budget the owner is asked for one; null where that is not possible. */
function pausedTurn(state: TaskState, ctx: DecideContext, then: Extract<PausedStep, { do: 'turn' }>): TaskEvent[] | null {
  if (stepWaits(state, then)) return []
  const hold = topUpHold(state, ctx, 'coder', { reason: 'turns' }, turnCharge, then)
  return hold === null ? null : [hold]
}

/**
 * What the runtime asks within the task's first turn proves that the turn arrived, although the send's own answer was not seen yet.
 * Later turns share their session with earlier ones, so a late word of those proves nothing about them.
 */
export function arrived(state: TaskState): TaskEvent[] {
  const turn = activeTurn(state)
  return turn?.state === 'intended' && state.status === 'claimed' && state.recovery === null ? [{ type: 'turn-submitted', turnId: turn.turnId }] : []
}

/** The title by which the task's one session is found again after a crash. */
export function sessionTitle(state: TaskState): string {
  return `countersign ${state.taskId}`
}
