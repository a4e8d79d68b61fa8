/**
 * What one event of a model's stream says about its tool calls. `key` tells calls of one stream apart; `callId` and
 * `tool` are null until the vendor has named them.
 */
export type CallStep =
  | { readonly is: 'seen'; readonly key: string; readonly callId: string | null; readonly tool: string | null }
  | { readonly is: 'arguments'; readonly key: string; readonly text: string }
  /** All arguments at once; counts only for a call of which no piece has come. */
  | { readonly is: 'whole'; readonly key: string; readonly text: string }
  | { readonly is: 'ended'; readonly key: string }
  | { readonly is: 'all-ended' }

/** Reads events of one stream, in order. Unknown shapes give no steps; nothing throws. */
export interface CallReader {
  read(event: unknown): readonly CallStep[]
}
