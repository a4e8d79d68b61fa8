import type { ScriptedRoom } from '../../src-main/adapters/memory/scripted-room.ts'
import { standingOffer } from '../../src-main/core/approval/standing-grant.ts'
import type { Hold } from '../../src-main/core/approval/hold.ts'
import { digestOfText } from '../../src-main/core/digest.ts'
import { openQuestions, waitingHolds, type TaskState } from '../../src-main/core/task/model.ts'
import type { Random } from '../harness/random.ts'

export type OwnerCommand = Parameters<ScriptedRoom['give']>[1]

const myBrief: OwnerCommand = { is: 'write-brief', brief: { goal: 'mine', scope: '', criteria: [], testCommand: 'bun test', excerpts: [] } }

/** What the owner might click next in a task: mostly sensible, at times forged or contrary; null for nothing. */
export function ownerCommand(state: TaskState, random: Random): OwnerCommand | null {
  const holds = random.chance(0.9) ? waitingHolds(state) : [...state.holds.values()]
  const questions = openQuestions(state)
  const dice = random.below(30)
  if (dice === 0) return { is: 'stop-task' }
  if (dice === 1) return myBrief
  if (dice === 2) return { is: 'resolve-recovery', exit: random.pick(['re-check', 'mark-done', 'mark-not-done', 'resend'] as const) }
  if (state.recovery !== null && dice < 12) return { is: 'resolve-recovery', exit: random.pick(['re-check', 're-check', 'mark-done', 'mark-not-done', 'resend', 'resend'] as const) }
  if (questions.length > 0 && dice < 15) {
    const question = random.pick(questions)
    return question.purpose === 'brief' ? myBrief : { is: 'answer-question', questionId: question.questionId, text: 'the second' }
  }
  if (holds.length === 0) return null
  if (dice === 17 && state.grants.size > 0) return { is: 'revoke-grant', grantId: random.pick([...state.grants.keys()]) }
  const { hold } = random.pick(holds)
  const choices = standingOffer(state.taskId, hold)?.choices ?? []
  return { is: 'decide-hold', approvalId: hold.approvalId, digest: random.chance(0.97) ? hold.digest : digestOfText('forged'), verdict: random.chance(0.88) ? 'approved' : 'denied', reason: null, ...amountOf(hold, random), standing: choices.length > 0 && random.chance(0.2) ? random.pick(choices).digest : null }
}

/** At times an amount, mostly one that the card offers. */
function amountOf(hold: Hold, random: Random): { readonly amount?: number } {
  const offer = hold.subject.for === 'budget' ? hold.subject.offer : undefined
  if (offer === undefined || random.chance(0.4)) return {}
  return { amount: random.pick([offer.min, offer.suggested, Math.min(offer.max, offer.min + 1), offer.max + 1, offer.from]) }
}

/** What an owner does who wants a task to come to its end; null where nothing waits for a click. */
export function endingCommand(state: TaskState, round: number): OwnerCommand | null {
  const hold = waitingHolds(state)[0]?.hold
  const question = openQuestions(state).find((open) => open.state === 'asked-owner')
  if (state.cancel !== null) return { is: 'stop-task' }
  if (state.recovery !== null) return { is: 'resolve-recovery', exit: (['re-check', 'resend', 'mark-not-done'] as const)[round % 3] ?? 're-check' }
  if (hold !== undefined) return { is: 'decide-hold', approvalId: hold.approvalId, digest: hold.digest, verdict: hold.kind === 'acceptance' && !state.verified ? 'denied' : 'approved', reason: null }
  if (question !== undefined) return question.purpose === 'brief' ? myBrief : { is: 'answer-question', questionId: question.questionId, text: 'the second' }
  return null
}
