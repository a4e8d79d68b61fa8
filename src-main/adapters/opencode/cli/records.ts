/** What `opencode run --format json` and the observer print → our signals. Free of clocks and of input and output. */
import { stripVTControlCharacters } from 'node:util'
import { z } from 'zod'
import type { CoderSignal } from '../../../engine/ports.ts'
import { callIdSchema } from '../../../../src-preload/contract/ids.ts'
import { interruptCalls, translate, type Translated } from '../translate.ts'
import { newTranslation, type Translation } from '../translation.ts'
import { endOfAnswer, errorWords, type TurnEnd } from '../turn-verdict.ts'
import { errorSchema, parsePart, wireId, type WireError, type WireMessage, type WirePart } from '../wire.ts'
import { jsonOf } from './json-text.ts'
import { observedSchema, type Observed } from './observer-script.ts'
import type { CliEnd } from './runner-client.ts'

const partRecord = z.object({ sessionID: wireId, part: z.unknown() })
const recordSchema = z.discriminatedUnion('type', [
  partRecord.extend({ type: z.literal('step_start'), part: z.object({ messageID: wireId }) }),
  partRecord.extend({ type: z.literal('text') }),
  partRecord.extend({ type: z.literal('reasoning') }),
  partRecord.extend({ type: z.literal('tool_use') }),
  partRecord.extend({ type: z.literal('step_finish'), part: z.object({ messageID: wireId, reason: z.string().max(4_096) }) }),
  z.object({ type: z.literal('error'), sessionID: wireId, error: errorSchema }),
  observedSchema,
])
type Record = z.infer<typeof recordSchema>

export interface Records {
  /** Takes one line; says what it means. A line that means nothing to us is counted. */
  take(line: string): readonly CoderSignal[]
  /** Ends what is open, and says how the turn ended. `killed`: by us. */
  conclude(end: CliEnd, killed: boolean): { readonly signals: readonly CoderSignal[]; readonly end: TurnEnd }
  /** Ends what is open, of a process that is gone. */
  interrupt(why: string): readonly CoderSignal[]
  ignored(): number
  /** How often the observer failed, as far as it could say so. */
  missed(): number
}

/** Reads the lines of one turn of a session. `state`: what is known of its earlier turns, whose calls keep their names. */
export function createRecords(sessionId: string, state: Translation = newTranslation()): Records {
  let ignored = 0
  let missed = 0
  /** The newest answer: what it said, and why it ended. */
  let answer: { readonly messageId: string; readonly parts: WirePart[]; finish: string | null } | null = null
  let failed: WireError | null = null
  const tell = (items: readonly Translated[]): readonly CoderSignal[] => items.flatMap((item) => (item.is === 'signal' ? [item.signal] : []))
  const answerOf = (messageId: string): { parts: WirePart[]; finish: string | null } => {
    if (answer?.messageId !== messageId) {
      answer = { messageId, parts: [], finish: null }
      translate(state, { kind: 'message', info: { id: messageId, sessionID: sessionId, role: 'assistant', time: { created: 0 } } }, messageId)
    }
    return answer
  }
  const takePart = (part: WirePart): readonly CoderSignal[] => {
    answerOf(part.messageID).parts.push(part)
    return tell(translate(state, { kind: 'part', part }, part.id))
  }
  const takeRecord = (record: Exclude<Record, Observed>): readonly CoderSignal[] => {
    switch (record.type) {
      case 'step_start': answerOf(record.part.messageID); return []
      case 'step_finish': answerOf(record.part.messageID).finish = record.part.reason; return []
      case 'error': failed = record.error; return []
      case 'text': case 'reasoning': case 'tool_use': {
        const part = parsePart(record.part)
        if (part?.sessionID === sessionId) return takePart(part)
        ignored += 1
        return []
      }
    }
  }
  /** Early words of a call. The native record of the call is what counts; after it they mean nothing any more. */
  const takeObserved = (seen: Observed): readonly CoderSignal[] => {
    missed = Math.max(missed, seen.missed ?? 0)
    const ids = z.object({ partID: wireId, messageID: wireId }).safeParse(seen)
    if (!ids.success) { ignored += 1; return [] }
    const first = tell(translate(state, { kind: 'part', part: { id: seen.partID, sessionID: sessionId, messageID: seen.messageID, type: 'tool', tool: seen.tool, callID: seen.callID, state: { status: 'pending' } } }, seen.partID))
    const call = state.calls.get(seen.partID)
    if (call === undefined || call.stage === 'ended' || seen.state === 'pending') return first
    const begun: CoderSignal = { signalId: `${seen.partID}:begun`, sessionId, parentSessionId: null, is: 'tool-pending', callId: callIdSchema.parse(call.callId), tool: call.tool, target: seen.file ?? null, begun: true }
    return [...first, begun]
  }
  return {
    take(line) {
      const parsed = recordSchema.safeParse(jsonOf(line))
      if (!parsed.success || parsed.data.sessionID !== sessionId) { ignored += 1; return [] }
      return parsed.data.type === 'countersign.call' ? takeObserved(parsed.data) : takeRecord(parsed.data)
    },
    conclude(end, killed) {
      const turnEnd = killed && end.signal !== null ? aborted : endOf(end, answer, failed, sessionId)
      return { signals: tell(interruptCalls(state, 'The turn ended before this call did.')), end: turnEnd }
    },
    interrupt: (why) => tell(interruptCalls(state, why)),
    ignored: () => ignored,
    missed: () => missed,
  }
}

const aborted: TurnEnd = { outcome: 'aborted', finish: null, text: '', error: null, errorCode: null }

/** The exit code and the last answer must say the same; what `opencode run` calls an error is one whatever else it says. */
function endOf(end: CliEnd, answer: { readonly messageId: string; readonly parts: readonly WirePart[]; readonly finish: string | null } | null, failed: WireError | null, sessionId: string): TurnEnd {
  const message: WireMessage = {
    info: { id: answer?.messageId ?? 'msg_none', sessionID: sessionId, role: 'assistant', time: { created: 0, completed: 0 }, ...(answer?.finish == null ? {} : { finish: answer.finish }), ...(failed === null ? {} : { error: failed }) },
    parts: answer?.parts ?? [],
  }
  const said = endOfAnswer(message)
  if (failed !== null) return { ...said, outcome: said.outcome === 'aborted' ? 'aborted' : 'failed', ...errorWords(failed) }
  if (end.code === 0 && answer !== null) return said
  const words = stripVTControlCharacters(end.words).trim().slice(-500)
  const how = end.signal ?? `exit code ${String(end.code)}`
  return { ...said, outcome: 'failed', error: end.code === 0 ? '“opencode run” ended without an answer.' : `“opencode run” ended with ${how}.${words === '' ? '' : ` Its last words: ${words}`}`, errorCode: null }
}
