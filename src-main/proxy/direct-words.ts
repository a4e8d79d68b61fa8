import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import type { ModelCall } from './call.ts'
import { refusal, type Refusal } from './errors.ts'
import type { DeadBy } from './idle-watch.ts'
import { cleanWords } from './redaction.ts'

/** Why a direct call ended before its reply did. `denied`: the vendor does not take this client (`client_attestation_denied`). */
export type Cut =
  | { readonly by: 'client' } | { readonly by: 'revoked' } | { readonly by: 'redirect' } | { readonly by: 'denied' } | { readonly by: 'budget' }
  | { readonly by: 'dead'; readonly how: DeadBy } | { readonly by: 'upstream'; readonly words: string }

/** What is journaled and shown of a cut. */
export function cutFailure(cut: Cut, call: ModelCall, secret: string | null): Failure {
  const label = call.grant.target.providerLabel
  switch (cut.by) {
    case 'client': return failure('cancelled', 'The client ended the call.', 'Nothing to do.')
    case 'revoked': return failure('cancelled', 'The task was stopped.', 'Nothing to do.')
    case 'budget': return call.bound.outputWhole === true
      ? failure('budget-exhausted', `The stream was cut: it put out more than the ${String(call.bound.outputTokensMax)} tokens of output that were reserved for it.`, 'Check the output limit of this model in Settings: its provider puts out more than that, or than was asked for.')
      : failure('budget-exhausted', `The stream was cut after the ${String(call.bound.outputTokensMax)} tokens of output that the budget had left.`, 'Raise the budget of the task, or start a new one.')
    case 'denied': return failure('provider-refused', `${label} does not take this client (client_attestation_denied).`, 'Use the vendor’s own program, or turn on a fallback for text-only calls in Settings → Fallbacks.')
    case 'redirect': return failure('provider-refused', `${label} answered with a redirect, which is not followed.`, 'Enter the address that it redirects to as base URL in Settings, if you trust it.')
    case 'dead': return failure('provider-unreachable', deadWords[cut.how](label), 'Try again; if it stays, check the provider.')
    case 'upstream': return failure('provider-unreachable', `${label} could not be reached or broke off: ${cleanWords(cut.words, secret)}`, 'Check that it is running and that its base URL in Settings is right.')
  }
}

const deadWords: Readonly<Record<DeadBy, (label: string) => string>> = {
  'no-answer': (label) => `${label} did not begin to answer in time.`,
  'no-bytes': (label) => `${label} stopped sending in the middle of its answer.`,
  'no-events': (label) => `${label} sent nothing but keep-alives for too long.`,
}

/** What the client is told of a cut before anything was answered. */
export function cutRefusal(cut: Cut, call: ModelCall, secret: string | null): Refusal {
  const { message } = cutFailure(cut, call, secret)
  switch (cut.by) {
    case 'redirect': return refusal(502, 'upstream_redirect', message)
    case 'revoked': return refusal(403, 'task_stopped', message)
    case 'denied': return refusal(502, 'client_attestation_denied', message)
    case 'dead': return refusal(502, 'upstream_timeout', message)
    default: return refusal(502, 'upstream_unreachable', message)
  }
}
