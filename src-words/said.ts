/** A sentence of the app's main process and its translation, with `{name}` where it names something. */
export type SaidPair = readonly [english: string, translated: string]

/** Stands for any value, where the sentences are held against the source. */
export const anyValue = '\uE000'

/** Notes how a text was translated: which sentence it was taken for, and what of it was taken over as it is. */
export interface Witness { readonly used: (pair: SaidPair) => void; readonly copied: (text: string) => void }

/** So many texts are remembered. */
const rememberedMax = 500
/** A reason within a reason within a sentence; deeper than this everything is taken over as it is. */
const depthMax = 4
/** A text of more sentences is no longer one of the main process. */
const sentencesMax = 16
/** Values that are somebody else's words, whatever they say. */
const foreign: ReadonlySet<string> = new Set(['words', 'path', 'paths', 'text', 'title', 'name', 'command', 'id', 'model'])
/** Values that are a number, or a name that stands for one, such as “none”. */
const counted: ReadonlySet<string> = new Set(['n', 'ms', 'code', 'status', 'min', 'max', 'tokens', 'files', 'in', 'out', 'last', 'usd', 'minutes'])
const number = /^[\d\uE000][\d.,\uE000]*$/

/**
 * Translates what the main process says. It says it in English, because much of it stands in the journal and is part of what was signed; so it
 * is known by its English words. What a sentence names is translated too where it is known, and else taken over as it is; a text of several
 * sentences is translated one by one. A text of which nothing is known stays as it is.
 */
export function translatorOf(pairs: readonly SaidPair[], witness?: Witness): (text: string) => string {
  const remembered = new Map<string, string>()
  let said: Said | null = null
  return (text) => {
    const known = remembered.get(text)
    if (known !== undefined) return known
    said ??= new Said(pairs, witness)
    const made = said.translate(text.trim(), 0) ?? text
    if (remembered.size >= rememberedMax) remembered.clear()
    remembered.set(text, made)
    return made
  }
}

interface Pattern { readonly pair: SaidPair; readonly pieces: readonly string[]; readonly names: readonly string[]; readonly fixedChars: number; readonly wordless: boolean }
interface Found { readonly pattern: Pattern; readonly values: readonly string[] }

class Said {
  readonly #whole: ReadonlyMap<string, SaidPair>
  /** Those that begin with words first, and each longer one before the shorter. */
  readonly #patterns: readonly Pattern[]
  readonly #witness: Witness | undefined

  constructor(pairs: readonly SaidPair[], witness: Witness | undefined) {
    this.#whole = new Map(pairs.filter(([english]) => !hasValue.test(english)).map((pair) => [pair[0], pair]))
    this.#patterns = pairs.filter(([english]) => hasValue.test(english)).map(patternOf).toSorted((one, other) => Number(one.pieces[0] === '') - Number(other.pieces[0] === '') || other.fixedChars - one.fixedChars)
    this.#witness = witness
  }

  /** Null: nothing of it is known. */
  translate(text: string, depth: number): string | null {
    const whole = this.#whole.get(text)
    if (whole !== undefined) {
      this.#witness?.used(whole)
      return whole[1]
    }
    if (depth >= depthMax) return null
    const found = this.#find(text)
    // A value that runs over the end of a sentence was no value of this one, unless it is the last of it.
    if (found !== null && !found.values.some((value, at) => sentenceEnd.test(value) && (at < found.values.length - 1 || found.pattern.pieces.at(-1) !== ''))) return this.#fill(found, depth)
    return this.#sentences(text, depth) ?? (found === null ? null : this.#fill(found, depth))
  }

  /** Of several that fit, the one that begins first is around the others; then the one that fixes most of the text. */
  #find(text: string): Found | null {
    let best: Found | null = null
    for (const pattern of this.#patterns) {
      const values = valuesIn(text, pattern.pieces)
      if (values === null || !this.#canBe(pattern, values)) continue
      if (pattern.pieces[0] !== '') return { pattern, values }
      if (best === null || (values[0] ?? '').length < (best.values[0] ?? '').length) best = { pattern, values }
    }
    return best
  }

  /** Short sentences fit much that somebody else wrote: what they count must be a number, their ids no words, and where they have no words of their own their values must be known. */
  #canBe({ names, wordless }: Pattern, values: readonly string[]): boolean {
    return values.every((value, at) => {
      const name = names[at] ?? ''
      if (counted.has(name)) return number.test(value) || this.#whole.has(value)
      if (name === 'id') return !/\s/.test(value)
      return !wordless || name === 'detail' || foreign.has(name) || value === anyValue || this.#whole.has(value) || this.#patterns.some((pattern) => !pattern.wordless && valuesIn(value, pattern.pieces) !== null)
    })
  }

  #fill({ pattern: { pair, names }, values }: Found, depth: number): string {
    this.#witness?.used(pair)
    const byName = new Map(names.map((name, at) => [name, this.#value(name, values[at] ?? '', depth)]))
    return pair[1].replace(/\{(\w+)\}/g, (_, name: string) => byName.get(name) ?? '')
  }

  #value(name: string, value: string, depth: number): string {
    const translated = foreign.has(name) ? null : this.translate(value, depth + 1)
    if (translated === null) this.#witness?.copied(value)
    return translated ?? value
  }

  /** Each sentence by itself, or several that are known together. */
  #sentences(text: string, depth: number): string | null {
    const sentences = text.split(sentenceBreak)
    if (sentences.length === 1 || sentences.length > sentencesMax) return null
    const made: string[] = []
    let known = false
    for (let at = 0; at < sentences.length;) {
      const together = this.#longestKnown(sentences, at, depth)
      if (together === null) this.#witness?.copied(sentences[at] ?? '')
      known ||= together !== null
      made.push(together?.text ?? sentences[at] ?? '')
      at += together?.count ?? 1
    }
    return known ? made.join(' ') : null
  }

  #longestKnown(sentences: readonly string[], from: number, depth: number): { readonly text: string; readonly count: number } | null {
    for (let count = sentences.length - from; count > 0; count -= 1) {
      if (count === sentences.length) continue
      const some = sentences.slice(from, from + count).join(' ')
      if (count > 1 && !this.#isOne(some)) continue
      const text = this.translate(some, depth + 1)
      if (text !== null) return { text, count }
    }
    return null
  }

  /** Whether several sentences stand in the catalogue as one text. */
  #isOne(text: string): boolean {
    if (this.#whole.has(text)) return true
    const found = this.#find(text)
    return found !== null && !found.values.some((value) => sentenceEnd.test(value))
  }
}

const hasValue = /\{\w+\}/
const sentenceBreak = /(?<=[.!?]) (?=\S)|(?<=\uE000) (?=\p{Lu})/u
const sentenceEnd = /[.!?] \S/

function patternOf(pair: SaidPair): Pattern {
  const parts = pair[0].split(/\{(\w+)\}/)
  const pieces = parts.filter((_, at) => at % 2 === 0)
  return { pair, pieces, names: parts.filter((_, at) => at % 2 === 1), fixedChars: pieces.join('').length, wordless: !/\p{L}/u.test(pieces.join('')) }
}

/** What stands between the pieces, never nothing, each value as short as can be; null where they do not stand in the text so. Takes time in proportion to the text. */
function valuesIn(text: string, pieces: readonly string[]): readonly string[] | null {
  const first = pieces[0] ?? ''
  const last = pieces.at(-1) ?? ''
  const end = text.length - last.length
  if (!text.startsWith(first) || !text.endsWith(last)) return null
  const values: string[] = []
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const next = text.indexOf(piece, at + 1)
    if (next < 0 || next + piece.length >= end) return null
    values.push(text.slice(at, next))
    at = next + piece.length
  }
  return at < end ? [...values, text.slice(at, end)] : null
}
