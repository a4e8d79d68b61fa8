import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Failure } from '../../src-preload/contract/failure.ts'
import type { ServingPath } from '../../src-preload/contract/task.ts'
import type { Refusal } from './errors.ts'
import type { Grant } from './grants.ts'
import type { Metered } from './metering.ts'
import type { RequestBody } from './request-body.ts'

/** One admitted model call on its way to a vendor. */
export interface ModelCall {
  readonly callNumber: number
  readonly grant: Grant
  readonly api: 'chat' | 'responses'
  readonly body: RequestBody
  readonly sessionId: string | null
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** What became of a call on one serving path. `not-served`: no byte of an answer has gone to the client yet. */
export type CallOutcome =
  | { readonly is: 'served'; readonly path: ServingPath; readonly status: number; readonly metered: Metered; readonly failure: Failure | null }
  | { readonly is: 'not-served'; readonly failure: Failure; readonly refused: Refusal }
  | { readonly is: 'client-gone'; readonly metered: Metered | null; readonly failure: Failure }

/** A way to serve text-only chat calls when direct cannot. There is none yet. */
export interface Fallback {
  readonly path: 'warm' | 'exec'
  serve(call: ModelCall): Promise<CallOutcome>
}
