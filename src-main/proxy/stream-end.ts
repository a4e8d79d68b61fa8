import { listOf, recordOf, textOf } from '../core/preview/json-shape.ts'
import type { SseEvent } from './sse-reader.ts'

/** How a stream said that it was over. */
export type Terminal = 'finished' | 'failed'

/**
 * Whether an event is a terminal frame: a finish reason (chat), a completed, incomplete or failed response (Responses), or an
 * error. `[DONE]` alone is none: OpenCode asks again at once after a stream without a finish reason.
 */
export function terminalOf(event: SseEvent, api: 'chat' | 'responses'): Terminal | null {
  const about = event.is === 'json' ? recordOf(event.value) : null
  if (about === null) return null
  if (api === 'chat') {
    if (about['error'] != null) return 'failed'
    return listOf(about['choices']).some((choice) => textOf(recordOf(choice)?.['finish_reason']) !== null) ? 'finished' : null
  }
  switch (about['type']) {
    case 'response.completed':
    case 'response.incomplete': return 'finished'
    case 'response.failed':
    case 'error': return 'failed'
    default: return null
  }
}

/** The error frame that goes behind the last byte of a stream without a terminal frame. `betweenEvents`: those bytes end with a blank line. */
export function errorFrame(api: 'chat' | 'responses', error: { readonly code: string; readonly message: string; readonly type: string }, betweenEvents: boolean): string {
  const lead = betweenEvents ? '' : '\n\n'
  const { code, message, type } = error
  if (api === 'chat') return `${lead}data: ${JSON.stringify({ error: { message, type, code, param: null } })}\n\n`
  return `${lead}event: error\ndata: ${JSON.stringify({ type: 'error', sequence_number: 0, code, message, param: null, error: { message, type, code, param: null } })}\n\n`
}
