/** Calls that a session had before this process: they have their names already, and no call of now gets one of those. */
import { translate, type Translated } from './translate.ts'
import type { Translation } from './translation.ts'
import type { WireMessage, WireToolPart } from './wire.ts'

/**
 * Takes in the calls of these histories, a session's and its subagents', before the first turn of this process. In the order in which
 * they began, so that each gets the name that it had then. What was told of them before is told again under the same signal ids. What is
 * open in them has no process any more, and ends here.
 */
export function takeEarlierCalls(state: Translation, messages: readonly WireMessage[]): readonly Translated[] {
  const parts = messages.flatMap((message) => message.parts.filter((part) => part.type === 'tool')).toSorted((one, other) => (one.id < other.id ? -1 : 1))
  return parts.flatMap((part) => translate(state, { kind: 'part', part: state.calls.has(part.id) ? part : ended(part) }, part.id))
}

function ended(part: WireToolPart): WireToolPart {
  const { state } = part
  if (state.status === 'completed' || state.status === 'error') return part
  const [input, metadata] = state.status === 'running' ? [state.input, state.metadata] : [{}, {}]
  return { ...part, state: { status: 'error', input, error: 'OpenCode ended.', metadata: { ...metadata, interrupted: true } } }
}
