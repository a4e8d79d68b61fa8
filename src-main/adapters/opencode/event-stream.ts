import { createParser } from 'eventsource-parser'
import type { Timers } from '../../engine/ports.ts'
import type { ControlClient } from './control-client.ts'
import { pause } from '../../engine/pause.ts'
import { parseEvent, type ParsedEvent } from './wire.ts'

/** OpenCode sends a heartbeat every 10 s: two missed ones and some slack mean that the stream is dead. */
const silenceMs = 25_000
const unparsedCharsMax = 64 * 1024 * 1024
const reconnectMs = [50, 200, 500, 1_000, 2_000] as const

export interface EventStreamDeps { readonly client: ControlClient; readonly timers: Timers }
export interface EventStreamListener {
  /** The stream's first event came: from here on nothing is missed. `again` after a break, in which events were lost. */
  connected(again: boolean): void
  event(parsed: ParsedEvent): void
  /** The stream broke; it is opened again after a pause, until the lifetime ends. `attempt` counts since it last worked. */
  lost(why: string, attempt: number): void
}

/** Follows `/event` until `lifetime` aborts, and opens it again whenever it breaks. A reconnect replays nothing: the listener must read state again. */
export async function followEvents(deps: EventStreamDeps, listener: EventStreamListener, lifetime: AbortSignal): Promise<void> {
  let attempt = 0
  let everConnected = false
  const over = (): boolean => lifetime.aborted
  while (!over()) {
    const why = await readOnce(deps.client, lifetime, (parsed) => {
      if (parsed.is === 'known' && parsed.event.kind === 'connected') {
        attempt = 0
        listener.connected(everConnected)
        everConnected = true
      } else listener.event(parsed)
    })
    if (over()) return
    attempt += 1
    listener.lost(why, attempt)
    await pause(deps.timers, reconnectMs[Math.min(attempt, reconnectMs.length) - 1] ?? 2_000, lifetime)
  }
}

/** Reads one connection to its end and tells why it ended. What the listener throws is a bug and is not taken for a broken stream. */
async function readOnce(client: ControlClient, lifetime: AbortSignal, take: (parsed: ParsedEvent) => void): Promise<string> {
  const parsed: ParsedEvent[] = []
  let unparsedChars = 0
  const parser = createParser({ onEvent: ({ data }) => { parsed.push(parseData(data)); unparsedChars = 0 } })
  const decoder = new TextDecoder()
  const chunks = client.stream('/event', silenceMs, lifetime)
  for (;;) {
    let chunk: IteratorResult<Uint8Array, void>
    try {
      chunk = await chunks.next()
    } catch (cause) {
      return cause instanceof Error ? cause.message : String(cause)
    }
    if (chunk.done === true) return 'the stream ended'
    const text = decoder.decode(chunk.value, { stream: true })
    unparsedChars += text.length
    parser.feed(text)
    for (const item of parsed.splice(0)) take(item)
    if (unparsedChars > unparsedCharsMax) { await chunks.return(); return 'an event is too long' }
  }
}

function parseData(data: string): ParsedEvent {
  try {
    return parseEvent(JSON.parse(data))
  } catch (cause) {
    if (cause instanceof SyntaxError) return { is: 'malformed', type: '(data)', issue: 'no JSON' }
    throw cause
  }
}
