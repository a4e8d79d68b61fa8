import { hash } from 'node:crypto'
import { rowText, type ChainRow } from '../../core/journal/chain.ts'
import type { StoredEvent } from '../../engine/ports.ts'

/** A line of the event table. `payload` is canonical JSON text. */
export interface EventRecord extends ChainRow { readonly prev: string; readonly hash: string }

/** The part of a line that its hash covers. */
export function storedRow({ seq, stream, version, at, commandId, actor, type, payload }: EventRecord): ChainRow {
  return { seq, stream, version, at, commandId, actor, type, payload }
}

/** `sha256:` and hex of the row's canonical text, which names its predecessor. */
export function rowHash(row: ChainRow, prev: string): string {
  return `sha256:${hash('sha256', rowText(row, prev), 'hex')}`
}

/** The event as the engine sees it. Throws when the payload is no JSON: the page is damaged, see `verifyChain`. */
export function storedEvent(record: Omit<EventRecord, 'prev'>): StoredEvent {
  const { seq, stream, version, at, commandId, actor, type, hash } = record
  return { seq, stream, version, at, commandId, actor, type, hash, payload: JSON.parse(record.payload) as unknown }
}
