import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { TaskId } from '../../../src-preload/contract/ids.ts'
import type { Envelope, EnvelopePayload } from '../../../src-main/core/envelope/codec.ts'
import type { RouteRefusal } from '../../../src-main/core/envelope/mailbox.ts'
import type { TaskEvent } from '../../../src-main/core/task/events.ts'
import { correctionText } from '../../../src-main/core/task/turn-text.ts'
import type { Clock, Coder, CoderRun, CoderSpec, Journal } from '../../../src-main/engine/ports.ts'
import type { PostOffice } from './post-office.ts'

export interface RemoteCoderDeps { readonly clock: Clock; readonly office: () => PostOffice; readonly journal: () => Journal; readonly generation: (taskId: TaskId) => number }

/** What a home knows of one task that a coder elsewhere works on. */
interface Engagement { readonly spec: CoderSpec; messageId: string; request: Envelope | null; /** The result that came last, which a correction sends back. */ resultId: string | null }

/** The `Coder` port over direct messages: what the coder of another home is told and says goes as envelopes. It runs no process here. */
export function createRemoteCoder(deps: RemoteCoderDeps): Coder & { taken(envelope: Envelope): void } {
  const engaged = new Map<string, Engagement>()
  let minted = 0
  return {
    probe: () => Promise.resolve(ok({ version: '1.18.30', binaryPath: 'another home' })),
    mintIds: () => { minted += 1; return { messageId: `msg_${String(minted).padStart(6, '0')}`, partId: `prt_${String(minted)}` } },
    start: (spec) => {
      const engagement: Engagement = { spec, messageId: '', request: null, resultId: null }
      engaged.set(spec.taskId, engagement)
      return Promise.resolve(ok(conversation(deps, engagement)))
    },
    taken: (envelope) => {
      const engagement = engaged.get(envelope.taskId)
      if (engagement === undefined) return
      const { spec, messageId } = engagement
      const from = { signalId: `direct:${envelope.eventId}`, sessionId: `direct/${envelope.taskId}`, parentSessionId: null }
      switch (envelope.kind) {
        case 'question': spec.onSignal({ ...from, is: 'question-asked', questionId: envelope.eventId, callId: null, questions: [{ question: envelope.payload.question, header: '', options: envelope.payload.options, multiple: false }] }); return
        case 'progress': spec.onSignal({ ...from, is: 'text', partId: envelope.eventId, reasoning: false, text: envelope.payload.text, done: true }); return
        case 'result': engagement.resultId = envelope.eventId; spec.onSignal({ ...from, is: 'turn-ended', messageId, outcome: 'completed', finish: 'stop', text: envelope.payload.summary, error: null, errorCode: null }); return
        case 'failure': spec.onSignal({ ...from, is: 'turn-ended', messageId, outcome: 'failed', finish: null, text: '', error: envelope.payload.message, errorCode: envelope.payload.code }); return
        default: return
      }
    },
  }
}

function conversation(deps: RemoteCoderDeps, engagement: Engagement): CoderRun {
  const { taskId } = engagement.spec
  const isolation = { usable: true, level: 'none', summary: 'another home', detail: '', checkedAt: deps.clock.now(), failure: null } as const
  return {
    version: '1.18.30', pid: 1, startTime: '1', isolation,
    createSession: () => Promise.resolve(ok({ sessionId: `direct/${taskId}` })),
    findSession: () => Promise.resolve(ok(null)),
    submit: (turn) => {
      const request = requestOf(deps.journal(), taskId)
      if (request?.kind !== 'request') return Promise.resolve(err(failure('submit-failed', 'Version 1 has no envelope for this turn.', 'Finish it in the room.')))
      engagement.messageId = turn.messageId
      // In the room it replies to the result as the room has it; between the homes to the one that came.
      const posted = deps.office().post(taskId, 'request', payloadOf(deps.journal(), taskId, request), { turnId: request.turnId, inReplyTo: request.inReplyTo === null ? null : engagement.resultId, input: inputOf(request) })
      if (!posted.ok) return Promise.resolve(err(failure('submit-failed', `It was not sent: ${posted.error}.`, 'Look at the grants of this peer.')))
      engagement.request = posted.value
      return Promise.resolve(ok(null))
    },
    answerQuestion: (questionId, answers) => Promise.resolve(asResult(engagement.request === null ? { ok: false, error: 'not-outstanding' } : deps.office().post(taskId, 'answer', { answer: answers.flat().join(' ') }, { turnId: 'turn', inReplyTo: questionId, input: inputOf(engagement.request) }))),
    answerPermission: () => Promise.resolve(err(failure('unavailable', 'Permissions are decided where the coder runs.', 'Nothing to do.'))),
    rejectQuestion: () => Promise.resolve(ok(null)),
    abort: () => {
      deps.office().raise(taskId, deps.generation(taskId))
      if (engagement.request !== null) deps.office().post(taskId, 'cancel', { cause: 'the owner stopped the task' }, { turnId: null, inReplyTo: null, input: inputOf(engagement.request) })
      return Promise.resolve(ok({ observed: false, how: 'asked the other home' }))
    },
    reconcile: () => Promise.resolve(ok({ found: engagement.request !== null, state: engagement.request === null ? 'absent' : 'running', text: '' })),
    stop: () => Promise.resolve({ at: deps.clock.now(), method: 'never-started', checkedProcesses: 0, detail: 'The coder runs in another home; nothing of it ran here.' }),
  }
}

/** The newest request as the room of this home has it: exactly what the owner approved, or the correction of what came of it. */
function requestOf(journal: Journal, taskId: TaskId): Envelope | null {
  const posted = [...journal.read(taskId)].map((stored) => stored.payload as TaskEvent).findLast((event) => event.type === 'envelope-posted' && event.kind === 'request')
  return posted?.type === 'envelope-posted' ? (JSON.parse(posted.text) as Envelope) : null
}

/** What leaves this home. The owner approved the request; a correction nobody has looked at, so it says the facts and none of what the room's own has of the log. */
function payloadOf(journal: Journal, taskId: TaskId, { payload, inReplyTo }: Extract<Envelope, { kind: 'request' }>): EnvelopePayload['request'] {
  const ended = inReplyTo === null ? undefined : [...journal.read(taskId)].map((stored) => stored.payload as TaskEvent).findLast((event) => event.type === 'verification-ended')
  return ended?.type === 'verification-ended' ? { ...payload, requirement: correctionText(ended.verification, true) } : payload
}

export function inputOf(envelope: Envelope): { readonly version: number; readonly digest: string } {
  return { version: envelope.inputVersion, digest: envelope.inputDigest ?? '' }
}

function asResult(posted: Result<Envelope, RouteRefusal>): Result<null, Failure> {
  return posted.ok ? ok(null) : err(failure('submit-failed', `It was not sent: ${posted.error}.`, 'Look at the grants of this peer.'))
}
