import type { ArgumentField } from './argument-fields.ts'
import { ArgumentScanner } from './argument-scanner.ts'
import type { CallReader } from './call-step.ts'
import { ChatCallReader } from './chat-calls.ts'
import { ResponsesCallReader } from './responses-calls.ts'

/** One call of a stream as it can be shown. */
export interface CallPreview {
  readonly callId: string
  readonly tool: string | null
  readonly argumentBytes: number
  readonly target: string | null
  readonly tail: string
  readonly tailOf: string | null
  readonly contentLines: number | null
  readonly before: string | null
  readonly fields: readonly ArgumentField[]
  /** Another call of the same reply has this id as well: only one of them can have a row of its own. */
  readonly idUsedTwice: boolean
  readonly state: 'growing' | 'complete' | 'interrupted'
}

/** A call that has something new to show. `urgent`: its first sight, its target became known, or it ended. */
export interface ChangedCall { readonly key: string; readonly urgent: boolean }

interface Call {
  callId: string | null
  tool: string | null
  readonly scanner: ArgumentScanner
  fed: boolean
  idUsedTwice: boolean
  state: CallPreview['state']
  announced: boolean
  announcedTarget: string | null
}

const callsMax = 128
const callIdCharsMax = 256
const toolCharsMax = 128

/**
 * All tool calls of one model stream, as previews. A call whose vendor has not named it yet is held back until it is:
 * a row's identity is its call id. After a call has ended nothing more is said of it. More than 128 calls are not shown.
 */
export class StreamPreviews {
  readonly #reader: CallReader
  readonly #calls = new Map<string, Call>()

  constructor(api: 'chat' | 'responses') {
    this.#reader = api === 'chat' ? new ChatCallReader() : new ResponsesCallReader()
  }

  /** Takes the next parsed event; tells which calls have something new to show. */
  accept(event: unknown): readonly ChangedCall[] {
    const changed = new Set<string>()
    for (const step of this.#reader.read(event)) {
      if (step.is === 'all-ended') {
        for (const [key, call] of this.#calls) if (endCall(call, 'complete')) changed.add(key)
        continue
      }
      const call = this.#callOf(step.key)
      if (call?.state !== 'growing') continue
      changed.add(step.key)
      if (step.is === 'seen') {
        if (step.callId !== null && step.callId.length <= callIdCharsMax) this.#name(call, step.callId)
        call.tool ??= step.tool === null ? null : step.tool.slice(0, toolCharsMax)
      } else if (step.is === 'ended') call.state = 'complete'
      else if (step.is === 'arguments' || !call.fed) feed(call, step.text)
    }
    return this.#announce(changed)
  }

  /** The stream is over: whatever still grows is settled as interrupted. */
  interrupt(): readonly ChangedCall[] {
    const changed = new Set<string>()
    for (const [key, call] of this.#calls) if (endCall(call, 'interrupted')) changed.add(key)
    return this.#announce(changed)
  }

  /** The call as it can be shown now, or null while the vendor has not named it. */
  preview(key: string): CallPreview | null {
    const call = this.#calls.get(key)
    if (call === undefined || call.callId === null) return null
    const { closed: _closed, ...known } = call.scanner.preview()
    return { callId: call.callId, tool: call.tool, ...known, idUsedTwice: call.idUsedTwice, state: call.state }
  }

  /** A call keeps its first id. Whoever comes with an id that another call of this stream has is marked, and so is that one. */
  #name(call: Call, callId: string): void {
    if (call.callId !== null) return
    call.callId = callId
    for (const other of this.#calls.values()) if (other !== call && other.callId === callId) other.idUsedTwice = call.idUsedTwice = true
  }

  #callOf(key: string): Call | null {
    const known = this.#calls.get(key)
    if (known !== undefined) return known
    if (this.#calls.size >= callsMax) return null
    const call: Call = { callId: null, tool: null, scanner: new ArgumentScanner(), fed: false, idUsedTwice: false, state: 'growing', announced: false, announcedTarget: null }
    this.#calls.set(key, call)
    return call
  }

  #announce(keys: ReadonlySet<string>): readonly ChangedCall[] {
    const changed: ChangedCall[] = []
    for (const key of keys) {
      const call = this.#calls.get(key)
      if (call === undefined || call.callId === null) continue
      const urgent = !call.announced || call.state !== 'growing' || call.scanner.target !== call.announcedTarget
      call.announced = true
      call.announcedTarget = call.scanner.target
      changed.push({ key, urgent })
    }
    return changed
  }
}

function feed(call: Call, text: string): void {
  call.fed = true
  call.scanner.feed(text)
  if (call.scanner.closed) call.state = 'complete'
}

function endCall(call: Call, state: 'complete' | 'interrupted'): boolean {
  if (call.state !== 'growing') return false
  call.state = state
  return true
}
