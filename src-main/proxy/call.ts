import type { Failure } from '../../src-preload/contract/failure.ts'
import type { ServingPath } from '../../src-preload/contract/task.ts'
import type { OutputBound } from '../core/budget/fit.ts'
import type { Refusal } from './errors.ts'
import type { Grant } from './grants.ts'
import type { Fields } from './http1/fields.ts'
import type { Reply } from './http1/reply.ts'
import type { Metered } from './metering.ts'
import type { RequestBody } from './request-body.ts'

/** One admitted model call on its way to a vendor. */
export interface ModelCall {
  readonly callNumber: number
  readonly grant: Grant
  readonly api: 'chat' | 'responses'
  readonly body: RequestBody
  readonly sessionId: string | null
  /** Where the stream is cut; nothing in it: the vendor's own limit is all there is. */
  readonly bound: OutputBound
  /** The client's header fields. */
  readonly fields: Fields
  readonly reply: Reply
}

/**
 * What became of a call on one serving path. `not-served`: no byte of an answer has gone to the client yet; `final` there:
 * no other path may try, since the call itself was ended. `metered` there: set where it is known that nothing was used.
 */
export type CallOutcome =
  | { readonly is: 'served'; readonly path: ServingPath; readonly status: number; readonly metered: Metered; readonly failure: Failure | null; /** The vendor wants to be asked again after that. */ readonly retryAfterMs?: number }
  | { readonly is: 'not-served'; readonly failure: Failure; readonly refused: Refusal; readonly final: boolean; readonly metered?: Metered }
  | { readonly is: 'client-gone'; readonly path: ServingPath; readonly metered: Metered | null; readonly failure: Failure }

/** Of a call that never left, or was refused. */
export const nothingUsed: Metered = { modelAnswered: null, inputTokens: 0, outputTokens: 0 }

/** A way to serve text-only chat calls when direct cannot. `messages`: what is left of the request, and all that the vendor's program gets. */
export interface Fallback {
  readonly path: 'warm' | 'exec'
  serve(call: ModelCall, text: TextRequest): Promise<CallOutcome>
}

export interface PlainMessage { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }

/** A chat request of which nothing but text matters. */
export interface TextRequest { readonly messages: readonly PlainMessage[]; readonly streams: boolean; readonly wantsUsage: boolean }
