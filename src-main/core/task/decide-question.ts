import { failure } from '../../../src-preload/contract/failure.ts'
import type { QuestionId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { err } from '../../../src-preload/contract/result.ts'
import type { PausedStep } from '../approval/hold.ts'
import { exhaustedFailure, reserve, type Charge, type Exhausted } from '../budget/budget.ts'
import { messageCharge } from '../budget/charge.ts'
import { wellFormed } from '../digest.ts'
import type { DecideContext, HostCommand, OwnerCommand } from './commands.ts'
import { decided, failTask, ignored, interruptTools, wrongState, type Decided } from './decision.ts'
import { needsProviderHold } from './decide-brief.ts'
import type { TaskEvent } from './events.ts'
import { activeTurn, openQuestions, type Question, type TaskState } from './model.ts'
import { post } from './post.ts'
import { stepWaits, topUpHold } from './top-up.ts'
import { arrived, startTurn } from './turns.ts'
import { clip, jsonBytes } from './words.ts'

type Host<K extends HostCommand['is']> = Extract<HostCommand, { is: K }>

const questionCharsMax = 4_000
const questionBytesMax = 12_000
const optionsMax = 20
const optionCharsMax = 500
/** All options together: with the question they fit into one envelope. */
const optionsBytesMax = 12_000
const answerBytesMax = 24_000
/** A question is asked only while its answer, the answers still owed to others and the turn's result can be sent as well; and each answer is a turn. */
const messagesOfAQuestion = 3

/** The options that fit, each clipped; those beyond are left out. */
function fittingOptions(options: readonly string[]): string[] {
  const kept: string[] = []
  let bytes = 0
  for (const option of options.slice(0, optionsMax)) {
    const clipped = clip(option, optionCharsMax, optionsBytesMax)
    bytes += jsonBytes(clipped)
    if (bytes > optionsBytesMax) break
    kept.push(clipped)
  }
  return kept
}

/** The coder asks; the turn is suspended until the answer. */
export function questionAsked(state: TaskState, command: Host<'question-asked'>, ctx: DecideContext): Decided {
  const turn = activeTurn(state)
  if (turn === null || state.phase !== 'coding') return ignored
  if ([...state.questions.values()].some((question) => question.upstreamId === command.upstreamId)) return ignored
  const owed = openQuestions(state).filter((open) => open.purpose === 'work').length
  const text = clip(command.text, questionCharsMax, questionBytesMax)
  const options = fittingOptions(command.options)
  const needed: Charge = { ...messageCharge, turns: 1 + owed, messages: messagesOfAQuestion + owed }
  const roomForAll = reserve(state.spending, state.budget, 'question-answer-result', needed)
  if (!roomForAll.ok) return keptBack(state, ctx, roomForAll.error, needed, { do: 'question', upstreamId: command.upstreamId, text, options })
  const questionId = ctx.mint('q') as QuestionId
  const posted = post(state, ctx, 'coder', 'question', turn.turnId, { question: text, options })
  const asked: TaskEvent[] = [
    ...arrived(state),
    { type: 'question-asked', questionId, envelopeId: posted.eventId, upstreamId: command.upstreamId, purpose: 'work', text, options, deadlineAt: Math.min(ctx.now + limits.questionDeadlineMs, state.deadlineAt) },
    posted,
  ]
  // A2. A lead whose provider was never approved is asked nothing.
  if (needsProviderHold(state, 'lead')) return decided([...asked, { type: 'question-passed-to-owner', questionId, why: 'Its provider was not approved for this task.' }])
  return decided([...asked, { type: 'lead-asked', purpose: 'answer' }], [{ kind: 'lead.answer', questionId }])
}

/** B6. The runtime's question stays live while the owner is asked for the budget that it takes; where no cap allows it, the task ends. */
function keptBack(state: TaskState, ctx: DecideContext, why: Exhausted, needed: Charge, then: Extract<PausedStep, { do: 'question' }>): Decided {
  if (stepWaits(state, then)) return ignored
  const hold = topUpHold(state, ctx, 'coder', why, needed, then)
  return hold === null ? failTask(state, exhaustedFailure(why, state.budget), interruptTools(state, 'The budget is used.')) : decided([...arrived(state), hold])
}

/** Bot A answered, or says that the owner must. */
export function leadAnswered(state: TaskState, command: Host<'lead-answered'>, ctx: DecideContext): Decided {
  const question = state.questions.get(command.questionId)
  if (question?.state !== 'open') return ignored
  if (command.answer === null) return decided([{ type: 'question-passed-to-owner', questionId: question.questionId, why: command.why }])
  const text = wellFormed(command.answer)
  if (text.trim() === '' || jsonBytes(text) > answerBytesMax) return decided([{ type: 'question-passed-to-owner', questionId: question.questionId, why: 'Its answer is too long to be sent.' }])
  return answer(state, ctx, question, 'lead', text)
}

/** The owner answers, at any time, in the lead's place. */
export function ownerAnswers(state: TaskState, command: Extract<OwnerCommand, { is: 'answer-question' }>, ctx: DecideContext): Decided {
  const question = openQuestions(state).find((open) => open.questionId === command.questionId)
  if (question === undefined || question.purpose === 'brief') return wrongState(state, 'Answering this question')
  const text = wellFormed(command.text)
  if (text.trim() === '' || jsonBytes(text) > answerBytesMax) return err(failure('invalid-input', 'This answer is empty, or too long to be sent to Bot B.', 'Write it in fewer words.'))
  return answer(state, ctx, question, 'owner', text)
}

/** The answer is a turn of its own in the budget; a live question's loop goes on with it. */
function answer(state: TaskState, ctx: DecideContext, question: Question, by: 'lead' | 'owner', text: string): Decided {
  const turn = activeTurn(state)
  if (turn === null) return wrongState(state, 'Answering')
  const events: TaskEvent[] = [
    { type: 'question-answered', questionId: question.questionId, by, text }, post(state, ctx, 'lead', 'answer', turn.turnId, { answer: text }, question.envelopeId),
    { type: 'turn-ended', turnId: turn.turnId, outcome: 'suspended', text: '', failure: null },
  ]
  const started = startTurn(state, ctx, { kind: 'answer', text, continues: { messageId: turn.messageId, effect: (turnId) => ({ kind: 'coder.answerQuestion', questionId: question.questionId, turnId }) } }, events)
  return started.ok ? decided(started.value.events, started.value.effects, started.value.retire === 'all' ? 'all' : ['lead.answer']) : started
}

/** Nobody answered in time: the turn cannot go on. */
export function questionExpired(state: TaskState, command: Host<'question-expired'>): Decided {
  const question = state.questions.get(command.questionId)
  if (question === undefined || (question.state !== 'open' && question.state !== 'asked-owner')) return ignored
  return failTask(state, failure('deadline-passed', 'A question of Bot B was not answered in time.', 'Start the task again and answer within its deadline, or put the answer into the requirement.'),
    [{ type: 'question-closed', questionId: question.questionId, how: 'expired' }, ...interruptTools(state, 'The question expired.')])
}
