import type { Digest, Millis } from '../../../src-preload/contract/ids.ts'
import { canonicalJson, isWellFormed, wellFormed } from '../digest.ts'

/** One event as the chain sees it. `payload` is canonical JSON text; `version` counts the stream's events, from 1. */
export interface ChainRow {
  readonly seq: number
  readonly stream: string
  readonly version: number
  readonly at: Millis
  readonly commandId: string
  readonly actor: string
  readonly type: string
  readonly payload: string
}

/** What the first row names as its predecessor. */
export const genesisHash = `sha256:${'0'.repeat(64)}` as Digest

/**
 * The bytes that a row's hash covers: canonical JSON (RFC 8785) of the row and of its predecessor's hash, as one object.
 * Built by hand since the payload is canonical text already; members are in the order that RFC 8785 sorts them.
 * Throws when a name has no UTF-8 form.
 */
export function rowText(row: ChainRow, prev: string): string {
  return `{"actor":${quoted(row.actor)},"at":${row.at},"commandId":${quoted(row.commandId)},"payload":${row.payload},"prev":${quoted(prev)},`
    + `"seq":${row.seq},"stream":${quoted(row.stream)},"type":${quoted(row.type)},"version":${row.version}}`
}

function quoted(name: string): string {
  if (!isWellFormed(name)) throw new TypeError('lone surrogate in a journal name')
  return JSON.stringify(name)
}

/**
 * The journal's edge: canonical JSON of `payload` after `redact` went over each of its strings (not over member names).
 * Lone surrogates become U+FFFD, as SQLite's UTF-8 would make them. Throws on what JSON cannot say.
 */
export function payloadText(payload: unknown, redact: (text: string) => string): string {
  return canonicalJson(mapStrings(payload, (text) => wellFormed(redact(text)), 0))
}

const depthMax = 64

function mapStrings(value: unknown, map: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return map(value)
  if (value === null || typeof value !== 'object') return value
  if (depth >= depthMax) throw new RangeError(`journal payload deeper than ${depthMax} levels`)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map, depth + 1))
  // Each commit goes through here: a plain loop takes half the time of entries and back.
  const mapped: Record<string, unknown> = {}
  for (const name of Object.keys(value)) {
    const item = mapStrings((value as Record<string, unknown>)[name], map, depth + 1)
    if (name === '__proto__') Object.defineProperty(mapped, name, { value: item, enumerable: true, configurable: true, writable: true })
    else mapped[wellFormed(name)] = item
  }
  return mapped
}
