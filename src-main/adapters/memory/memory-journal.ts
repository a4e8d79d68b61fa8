import { hash } from 'node:crypto'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import type { Digest } from '../../../src-preload/contract/ids.ts'
import { genesisHash, payloadText, rowText } from '../../core/journal/chain.ts'
import type { Commit, CommitOutcome, EffectRecord, Journal, JournalRefusal, StoredEvent } from '../../engine/ports.ts'

type EffectState = EffectRecord['state']
interface HeldEffect { readonly record: EffectRecord; readonly payload: string }

/** The `Journal` port in memory, with the same rules and hashes as the SQLite one. It outlives an engine: restart the engine on the same journal. */
export interface MemoryJournal extends Journal {
  /** The next `commit` reports this failure and writes nothing. */
  failNext(failure: Failure): void
  /** Until it is called with null, nothing can be written, as on a full disk. Reading goes on. */
  refuse(failure: Failure | null): void
  /** All events, in order, or those after the first `after`. */
  all(after?: number): readonly StoredEvent[]
  /** All effects, ended ones too, in order. */
  allEffects(): readonly EffectRecord[]
}

/** `redact` goes over every string of every payload, as at the real journal's edge. */
export function createMemoryJournal(redact: (text: string) => string = (text) => text): MemoryJournal {
  const events: StoredEvent[] = []
  const streams = new Map<string, StoredEvent[]>()
  const receipts = new Map<string, Digest>()
  const effects = new Map<string, HeldEffect>()
  let refusal: Failure | null = null
  let refusing: Failure | null = null

  const record = ({ record: held, payload }: HeldEffect): EffectRecord => ({ ...held, payload: JSON.parse(payload) as unknown })
  const move = (id: string, from: readonly EffectState[], change: Partial<EffectRecord>): boolean => {
    const held = effects.get(id)
    if (held === undefined || !from.includes(held.record.state)) return false
    effects.set(id, { ...held, record: { ...held.record, ...change } })
    return true
  }
  const writable = (): void => { if (refusing !== null) throw new RefusedWrite(refusing) }
  const end = (id: string, state: 'done' | 'retired'): void => {
    if (!move(id, ['pending', 'started'], { state }) && !effects.has(id)) throw new Error(`no effect of this id: ${id}`)
  }

  const commit = (order: Commit): CommitOutcome => {
    const failed = refusing ?? refusal
    refusal = null
    if (failed !== null) return { is: 'failed', failure: failed }
    const known = receipts.get(order.commandId)
    if (known !== undefined) return { is: known === order.contentDigest ? 'duplicate' : 'other-content' }
    const own = streams.get(order.stream) ?? []
    if (own.length !== order.expectedVersion) return { is: 'conflict', version: own.length }
    const added = chained(order, own.length, events.at(-1), redact)
    const opened = order.effects.map((effect): HeldEffect => {
      if (effects.has(effect.id)) throw new Error(`effect exists: ${effect.id}`)
      return { payload: payloadText(effect.payload, redact), record: { ...effect, stream: order.stream, state: 'pending', attempts: 0, commandId: order.commandId } }
    })
    // All or nothing: what can throw has run, or throws before the first write.
    for (const id of [...order.settles, ...order.retires]) if (!effects.has(id) && !order.effects.some((effect) => effect.id === id)) throw new Error(`no effect of this id: ${id}`)
    for (const effect of opened) effects.set(effect.record.id, effect)
    for (const id of order.settles) end(id, 'done')
    for (const id of order.retires) end(id, 'retired')
    receipts.set(order.commandId, order.contentDigest)
    events.push(...added)
    if (own.push(...added) > 0) streams.set(order.stream, own)
    return { is: 'committed', stored: added }
  }

  return {
    commit,
    receiptOf: (commandId) => { const contentDigest = receipts.get(commandId); return contentDigest === undefined ? null : { contentDigest } },
    streams: () => [...streams.keys()],
    read: function* (stream, fromVersion = 0) {
      // Asked anew each time: events may be added while the caller is still reading.
      for (let version = fromVersion; ; version += 1) {
        const event = streams.get(stream)?.[version]
        if (event === undefined) return
        yield event
      }
    },
    openEffects: () => [...effects.values()].filter(({ record: { state } }) => state === 'pending' || state === 'started').map(record),
    startEffect: (id) => { writable(); return move(id, ['pending'], { state: 'started', attempts: (effects.get(id)?.record.attempts ?? 0) + 1 }) },
    endEffect: (id, state) => { writable(); end(id, state) },
    failNext: (failed) => { refusal = failed },
    refuse: (failed) => { refusing = failed },
    all: (after = 0) => events.slice(after),
    allEffects: () => [...effects.values()].map(record),
  }
}

export class RefusedWrite extends Error implements JournalRefusal {
  readonly failure: Failure
  constructor(because: Failure) {
    super(because.message)
    this.failure = because
  }
}

function chained(order: Commit, version: number, last: StoredEvent | undefined, redact: (text: string) => string): StoredEvent[] {
  let prev: string = last?.hash ?? genesisHash
  return order.events.map((event, index) => {
    const row = { seq: (last?.seq ?? 0) + index + 1, stream: order.stream, version: version + index + 1, at: order.at, commandId: order.commandId, actor: order.actor, type: event.type }
    const text = payloadText(event.payload, redact)
    prev = `sha256:${hash('sha256', rowText({ ...row, payload: text }, prev), 'hex')}`
    // What was written is read back, and no hand may change it: every reader sees the same.
    return { ...row, payload: JSON.parse(text) as unknown, hash: prev }
  })
}
