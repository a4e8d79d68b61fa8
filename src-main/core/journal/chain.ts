import type { Digest, Millis } from '../../../src-preload/contract/ids.ts'
import { isWellFormed, wellFormed } from '../digest.ts'

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
 * The journal's edge: canonical JSON (RFC 8785) of `payload` after `redact` went over each of its strings (not over member names).
 * Lone surrogates become U+FFFD, as SQLite's UTF-8 would make them; members that are undefined are left out. Written in one pass, since each commit
 * goes through here: the same text as `canonicalJson` of the redacted value. Throws on what JSON cannot say.
 */
export function payloadText(payload: unknown, redact: (text: string) => string): string {
  const text = written(payload, redact, 0)
  if (text === undefined) throw new TypeError('no JSON value: nothing to journal')
  return text
}

const depthMax = 64

/** Undefined for what JSON leaves out of an object. */
function written(value: unknown, redact: (text: string) => string, depth: number): string | undefined {
  switch (typeof value) {
    case 'string': return JSON.stringify(wellFormed(redact(value)))
    case 'number':
      if (!Number.isFinite(value)) throw new RangeError(`no JSON number: ${value}`)
      return String(value)
    case 'boolean': return value ? 'true' : 'false'
    case 'object': return value === null ? 'null' : container(value, redact, depth)
    case 'undefined': case 'symbol': case 'function': return undefined
    case 'bigint': throw new TypeError('no JSON value: a bigint')
  }
}

function container(value: object, redact: (text: string) => string, depth: number): string {
  if (depth >= depthMax) throw new RangeError(`journal payload deeper than ${depthMax} levels`)
  if (Array.isArray(value)) return `[${value.map((item) => written(item, redact, depth + 1) ?? 'null').join(',')}]`
  const names = Object.keys(value)
  if (!names.every(isWellFormed)) return container(mended(value), redact, depth)
  // RFC 8785 sorts by UTF-16 code units, as this does.
  names.sort()
  let text = ''
  for (const name of names) {
    const item = written((value as Record<string, unknown>)[name], redact, depth + 1)
    if (item !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${item}`
  }
  return `{${text}}`
}

/** The same members under names that UTF-8 can say; of two that become one, the later stays. */
function mended(value: object): object {
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [wellFormed(name), item as unknown]))
}
