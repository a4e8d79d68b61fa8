import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { refusal, type Refusal, type RefusalReason } from './refusal.ts'

/** The JSON values that an envelope can hold: of the numbers only safe integers. */
export type StrictJson = null | boolean | number | string | StrictJson[] | { [name: string]: StrictJson }

/** Leaves the parser; never leaves this file. */
class Stop extends Error {
  readonly refusal: Refusal
  constructor(reason: RefusalReason, at: number, detail: string) {
    super(detail)
    this.refusal = refusal(reason, '', `${detail} (character ${at})`)
  }
}

const escapes: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/**
 * Parses JSON (RFC 8259) more strictly than `JSON.parse`: a name twice in an object, a lone surrogate, nesting beyond `depthMax` and numbers
 * other than safe integers in their shortest form are refused. The text's length bounds the work; time is linear in it.
 */
export function parseStrict(text: string, depthMax: number): Result<StrictJson, Refusal> {
  const parser = new Parser(text, depthMax)
  try {
    return ok(parser.whole())
  } catch (stop) {
    if (stop instanceof Stop) return err(stop.refusal)
    throw stop
  }
}

class Parser {
  readonly #text: string
  readonly #depthMax: number
  #at = 0

  constructor(text: string, depthMax: number) {
    this.#text = text
    this.#depthMax = depthMax
  }

  whole(): StrictJson {
    const value = this.#value(0)
    this.#space()
    if (this.#at < this.#text.length) throw this.#stop('not-json', 'text after the value')
    return value
  }

  #stop(reason: RefusalReason, detail: string): Stop {
    return new Stop(reason, this.#at, detail)
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#at++
    }
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false
    this.#at++
    return true
  }

  #value(depth: number): StrictJson {
    this.#space()
    const char = this.#text[this.#at]
    if (char === '{') return this.#object(depth + 1)
    if (char === '[') return this.#array(depth + 1)
    if (char === '"') return this.#string()
    for (const [word, value] of [['null', null], ['true', true], ['false', false]] as const) {
      if (!this.#text.startsWith(word, this.#at)) continue
      this.#at += word.length
      return value
    }
    return this.#number()
  }

  #deeper(depth: number): void {
    if (depth > this.#depthMax) throw this.#stop('too-deep', `nested deeper than ${this.#depthMax}`)
    this.#at++
    this.#space()
  }

  #object(depth: number): StrictJson {
    this.#deeper(depth)
    // Object.fromEntries defines own members, also one named __proto__.
    const members = new Map<string, StrictJson>()
    if (this.#take('}')) return {}
    do {
      this.#space()
      if (this.#text[this.#at] !== '"') throw this.#stop('not-json', 'a member name is missing')
      const name = this.#string()
      if (members.has(name)) throw this.#stop('duplicate-key', 'a member name twice in one object')
      this.#space()
      if (!this.#take(':')) throw this.#stop('not-json', 'a colon is missing')
      members.set(name, this.#value(depth))
      this.#space()
    } while (this.#take(','))
    if (!this.#take('}')) throw this.#stop('not-json', 'an object is not closed')
    return Object.fromEntries(members)
  }

  #array(depth: number): StrictJson {
    this.#deeper(depth)
    const items: StrictJson[] = []
    if (this.#take(']')) return items
    do {
      items.push(this.#value(depth))
      this.#space()
    } while (this.#take(','))
    if (!this.#take(']')) throw this.#stop('not-json', 'an array is not closed')
    return items
  }

  #number(): number {
    const token = /^-?[0-9][0-9.eE+-]*/.exec(this.#text.slice(this.#at, this.#at + 64))?.[0]
    if (token === undefined) throw this.#stop('not-json', 'no JSON value')
    const value = Number(token)
    if (!/^(0|-?[1-9][0-9]*)$/.test(token) || !Number.isSafeInteger(value)) throw this.#stop('not-safe-integer', 'a number that is no safe integer in its shortest form')
    this.#at += token.length
    return value
  }

  #string(): string {
    let value = ''
    let from = ++this.#at
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (Number.isNaN(code) || code < 0x20) throw this.#stop('not-json', 'a string is not closed, or holds a raw control character')
      if (code === 0x22) break
      if (code >= 0xd800 && code <= 0xdfff) this.#pair(code, this.#text.charCodeAt(this.#at + 1), 2)
      else if (code === 0x5c) {
        value += this.#text.slice(from, this.#at) + this.#escape()
        from = this.#at
      } else this.#at++
    }
    value += this.#text.slice(from, this.#at)
    this.#at++
    return value
  }

  /** Steps over a surrogate pair of `width` characters. */
  #pair(high: number, low: number, width: number): void {
    if (high > 0xdbff || !(low >= 0xdc00 && low <= 0xdfff)) throw this.#stop('lone-surrogate', 'half of a surrogate pair')
    this.#at += width
  }

  #escape(): string {
    const simple = escapes[this.#text[this.#at + 1] ?? '']
    if (simple !== undefined) {
      this.#at += 2
      return simple
    }
    const code = this.#unicode(this.#at)
    if (code === null) throw this.#stop('not-json', 'an unknown escape')
    if (code < 0xd800 || code > 0xdfff) {
      this.#at += 6
      return String.fromCharCode(code)
    }
    const low = this.#unicode(this.#at + 6) ?? 0
    this.#pair(code, low, 12)
    return String.fromCharCode(code, low)
  }

  /** The code of `\uXXXX` at `at`, or null. */
  #unicode(at: number): number | null {
    const hex = /^\\u([0-9a-fA-F]{4})$/.exec(this.#text.slice(at, at + 6))?.[1]
    return hex === undefined ? null : Number.parseInt(hex, 16)
  }
}
