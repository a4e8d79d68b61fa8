import { failure } from '../../../src-preload/contract/failure.ts'
import { err, ok } from '../../../src-preload/contract/result.ts'
import type { Envelope } from '../../../src-main/core/envelope/codec.ts'
import type { TaskEvent } from '../../../src-main/core/task/events.ts'
import type { Journal, Lead } from '../../../src-main/engine/ports.ts'
import type { PostOffice } from './post-office.ts'
import { inputOf } from './remote-coder.ts'

export interface RemoteLeadDeps { readonly office: () => PostOffice; readonly journal: () => Journal }

/** `engage`: a task of this home does what that request asks for. `requestOf`: what it asks for. */
export interface RemoteLead extends Lead { engage(taskId: string, request: Envelope): void; taken(envelope: Envelope): void; requestOf(taskId: string): Envelope | undefined }

/** The `Lead` port over direct messages: the brief is the request that came, answers come as envelopes; the review stays with the lead's own home. */
export function createRemoteLead(deps: RemoteLeadDeps): RemoteLead {
  const requests = new Map<string, Envelope>()
  const waiting = new Map<string, (text: string) => void>()
  const forwarded = new Set<string>()
  return {
    engage: (taskId, request) => { requests.set(taskId, request) },
    requestOf: (taskId) => requests.get(taskId),
    taken: (envelope) => {
      if (envelope.kind === 'answer' && envelope.inReplyTo !== null) waiting.get(envelope.inReplyTo)?.(JSON.stringify({ answer: envelope.payload.answer, why: '' }))
    },
    ask: (turn, _onText, signal) => {
      const taskId = turn.token.replace(/^token-lead-/, '')
      const request = requests.get(taskId)
      const purpose = /Purpose: (brief|answer|review)/.exec(turn.system)?.[1]
      if (request?.kind !== 'request') return Promise.resolve(err(failure('unavailable', 'No request has come.', 'Wait for it.')))
      const { goal, scope, criteria, testCommand, excerpts } = request.payload
      if (purpose === 'brief') return Promise.resolve(ok({ text: JSON.stringify({ goal, scope, criteria, testCommand, excerptIds: excerpts.map((excerpt) => excerpt.id) }) }))
      if (purpose === 'review') return Promise.resolve(ok({ text: JSON.stringify({ text: 'Reviewed where the task was given.', recommendation: 'unsure' }) }))
      const asked = questions(deps.journal(), taskId).find((question) => !forwarded.has(question.eventId) && (turn.messages[0]?.content ?? '').includes(question.payload.question))
      if (asked === undefined) return Promise.resolve(err(failure('unavailable', 'The question is not in the room.', 'Answer it yourself.')))
      forwarded.add(asked.eventId)
      const posted = deps.office().post(request.taskId, 'question', asked.payload, { turnId: asked.turnId, inReplyTo: request.eventId, input: inputOf(request) })
      if (!posted.ok) return Promise.resolve(err(failure('unavailable', `The question was not sent: ${posted.error}.`, 'Answer it yourself.')))
      return new Promise((answered) => {
        waiting.set(posted.value.eventId, (text) => { answered(ok({ text })) })
        signal.addEventListener('abort', () => { answered(err(failure('cancelled', 'The task was stopped.', 'Nothing more happened.'))) }, { once: true })
      })
    },
  }
}

type Question = Extract<Envelope, { kind: 'question' }>
function questions(journal: Journal, taskId: string): Question[] {
  return [...journal.read(taskId)].map((stored) => stored.payload as TaskEvent).flatMap((event) => (event.type === 'envelope-posted' && event.kind === 'question' ? [JSON.parse(event.text) as Question] : []))
}
