import { limits } from '../../../src-preload/contract/limits.ts'
import { ArgumentFields, type ArgumentField } from './argument-fields.ts'
import { GrowingTail, isHighSurrogate, isLowSurrogate } from './growing-tail.ts'
import { PatchTarget } from './patch-target.ts'

/** What can be shown of a call's arguments while they grow. Display only: never the basis of an approval. */
export interface ArgumentPreview {
  /** UTF-8 bytes of the argument text so far, whatever is held of it. */
  readonly argumentBytes: number
  /** File or command that the call is about, once that value is whole. */
  readonly target: string | null
  /** The end of the content that is growing, decoded. */
  readonly tail: string
  /** Which argument `tail` is of. */
  readonly tailOf: string | null
  readonly contentLines: number | null
  /** Of an edit: the end of the text that is replaced; null while no such text has begun. */
  readonly before: string | null
  /** The other arguments, as far as they have come. */
  readonly fields: readonly ArgumentField[]
  /** The argument object has been closed. */
  readonly closed: boolean
}

const targetCharsMax = 1_000
const keyCharsMax = 64
/** A higher rank replaces a lower one; among equals the first stays. */
const targetRanks: Readonly<Record<string, number>> = { filePath: 4, patchText: 3, path: 2, file: 2, command: 1 }
const contentKeys: ReadonlySet<string> = new Set(['content', 'newString', 'patchText', 'command'])
const beforeKey = 'oldString'
const beforeCharsMax = 2_000

const quote = 34
const backslash = 92
const letterN = 110
type Place = 'start' | 'key-or-end' | 'key' | 'colon' | 'value' | 'text' | 'literal' | 'nested' | 'nested-text' | 'comma-or-end' | 'closed' | 'nonsense'

/**
 * Reads one tool call's arguments (the text of a JSON object) as they arrive, in pieces cut anywhere. Looks at each
 * character once, holds less than 64 KiB, and never throws: text that is no JSON object is counted and nothing else.
 */
export class ArgumentScanner {
  #place: Place = 'start'
  #depth = 0
  #key = ''
  /** Escape being read: 0 none, 1 after the backslash, 2 to 5 hex digits of \u expected. */
  #escape = 0
  #hex = 0
  #value: string | null = null
  #content: GrowingTail | null = null
  #before: GrowingTail | null = null
  /** Which of the two grows now. */
  #into: GrowingTail | null = null
  readonly #fields = new ArgumentFields()
  #contentKey: string | null = null
  #patch: PatchTarget | null = null
  #target: string | null = null
  #targetRank = 0
  #bytes = 0
  /** Where in the piece a pair's first half was met; -1: at the end of the piece before. */
  #highAt = -2
  #endedHigh = false
  #steps = 0
  #copied = 0

  /** Characters looked at or copied so far: the cost, which must be linear in what was fed. */
  get steps(): number {
    return this.#steps + this.#copied + (this.#content?.copied ?? 0) + (this.#before?.copied ?? 0)
  }

  get heldChars(): number {
    return this.#key.length + (this.#value?.length ?? 0) + (this.#target?.length ?? 0) + (this.#content?.heldChars ?? 0) + (this.#before?.heldChars ?? 0) + this.#fields.heldChars
  }

  get target(): string | null {
    return this.#target
  }

  get closed(): boolean {
    return this.#place === 'closed'
  }

  /** Takes the next piece of the argument text. */
  feed(text: string): void {
    // Each character is at least one byte; what is wider adds to that where it is met.
    this.#bytes += text.length
    this.#highAt = this.#endedHigh ? -1 : -2
    let at = 0
    while (at < text.length) {
      const inText = this.#place === 'text' || this.#place === 'key' || this.#place === 'nested-text'
      if (this.#escape > 0) this.#readEscape(this.#unitAt(text, at++))
      else if (inText) at = this.#readText(text, at)
      else if (this.#place === 'nonsense' || this.#place === 'closed') this.#unitAt(text, at++)
      else this.#readSyntax(this.#unitAt(text, at++))
    }
    this.#endedHigh = this.#highAt === text.length - 1
  }

  /** What is known now. Bounded; costs a copy of the tail. */
  preview(): ArgumentPreview {
    const content = this.#content
    return {
      argumentBytes: this.#bytes, target: this.#target, tail: content?.text() ?? '', tailOf: this.#contentKey,
      contentLines: content?.lines ?? null, before: this.#before?.text() ?? null, fields: this.#fields.all(), closed: this.closed,
    }
  }

  #unitAt(text: string, at: number): number {
    const unit = text.charCodeAt(at)
    if (unit >= 0x80) this.#countWide(unit, at)
    return unit
  }

  /** Adds what a character has in UTF-8 beyond one byte. A pair's first half was counted with three: the second half, counted with one, makes it four. */
  #countWide(unit: number, at: number): void {
    if (unit < 0x800) this.#bytes += 1
    else if (!isLowSurrogate(unit) || this.#highAt !== at - 1) {
      this.#bytes += 2
      if (isHighSurrogate(unit)) this.#highAt = at
    }
  }

  /**
   * Inside a string: takes everything up to its end, or to an escape that stands for something else than the character behind the backslash and is no
   * line feed: those are read one character at a time, since a piece may end within them. Returns where to go on.
   */
  #readText(text: string, begin: number): number {
    const length = text.length
    let from = begin
    let at = begin
    let newlines = 0
    for (; at < length; at++) {
      const unit = text.charCodeAt(at)
      if (unit >= 0x80) this.#countWide(unit, at)
      else if (unit === quote) break
      else if (unit === backslash) {
        const next = at + 1 < length ? text.charCodeAt(at + 1) : 0
        if (next !== letterN && next !== quote && next !== backslash) break
        this.#takeSlice(text, from, at, newlines)
        newlines = 0
        at++
        // A quote or a backslash begins what is taken next.
        from = at
        if (next === letterN) { this.#takeUnit(10); from++ }
      } else if (unit === 10) newlines++
    }
    this.#steps += at - begin
    this.#takeSlice(text, from, at, newlines)
    if (at === length) return at
    if (text.charCodeAt(at) === backslash) this.#escape = 1
    else this.#endText()
    this.#steps++
    return at + 1
  }

  #takeSlice(text: string, from: number, to: number, newlines: number): void {
    if (to > from && this.#place !== 'nested-text') this.#take(text.slice(from, to), newlines)
  }

  #readEscape(unit: number): void {
    this.#steps++
    if (this.#escape === 1) {
      if (unit === 117) { this.#escape = 2; this.#hex = 0; return }
      this.#escape = 0
      this.#takeUnit(unescaped(unit))
      return
    }
    const digit = hexDigit(unit)
    if (digit === null) { this.#escape = 0; this.#place = 'nonsense'; return }
    this.#hex = this.#hex * 16 + digit
    if (++this.#escape < 6) return
    this.#escape = 0
    this.#takeUnit(this.#hex)
  }

  #takeUnit(unit: number): void {
    if (this.#place !== 'nested-text') this.#take(String.fromCharCode(unit), unit === 10 ? 1 : 0)
  }

  /** Decoded text of a key or of a value of the outermost object. */
  #take(text: string, newlines: number): void {
    const into = this.#into
    if (into !== null) {
      into.push(text, newlines)
      if (this.#value === null && this.#patch === null) return
    } else if (this.#place === 'key') {
      this.#key += text.slice(0, keyCharsMax + 1 - this.#key.length)
      return
    } else this.#fields.grow(text)
    if (this.#value !== null) this.#value += text.slice(0, targetCharsMax + 1 - this.#value.length)
    if (this.#patch !== null) {
      this.#patch.push(text)
      if (this.#patch.found !== null) this.#endPatch()
    }
  }

  #startText(): void {
    this.#place = 'text'
    if (contentKeys.has(this.#key)) {
      this.#copied += this.#content?.copied ?? 0
      this.#content = new GrowingTail(limits.previewTailCharsMax)
      this.#contentKey = this.#key
      this.#into = this.#content
    }
    if (this.#key === 'patchText') this.#patch = new PatchTarget(targetCharsMax)
    else if (this.#key === beforeKey) this.#into = this.#before = new GrowingTail(beforeCharsMax)
    else if (Object.hasOwn(targetRanks, this.#key)) this.#value = ''
    else if (!contentKeys.has(this.#key)) this.#fields.begin(this.#key, '')
  }

  #endText(): void {
    if (this.#place === 'key') { this.#place = 'colon'; return }
    if (this.#place === 'nested-text') { this.#place = 'nested'; return }
    this.#place = 'comma-or-end'
    this.#into = null
    this.#fields.end()
    if (this.#value !== null) this.#offerTarget(this.#value, targetRanks[this.#key] ?? 0)
    this.#value = null
    this.#patch?.end()
    this.#endPatch()
  }

  #endPatch(): void {
    if (this.#patch?.found != null) this.#offerTarget(this.#patch.found, targetRanks['patchText'] ?? 0)
    this.#patch = null
  }

  #offerTarget(value: string, rank: number): void {
    if (rank <= this.#targetRank || value.length === 0) return
    this.#targetRank = rank
    this.#target = value.length > targetCharsMax ? `${value.slice(0, targetCharsMax)}…` : value
  }

  /** Outside of strings. */
  #readSyntax(unit: number): void {
    this.#steps++
    const blank = unit === 32 || unit === 10 || unit === 13 || unit === 9
    switch (this.#place) {
      case 'start': if (!blank && unit !== 0xfeff) this.#place = unit === 123 ? 'key-or-end' : 'nonsense'; return
      case 'key-or-end':
        if (unit === quote) { this.#key = ''; this.#place = 'key' }
        else if (unit === 125) this.#place = 'closed'
        else if (!blank) this.#place = 'nonsense'
        return
      case 'colon': if (!blank) this.#place = unit === 58 ? 'value' : 'nonsense'; return
      case 'value':
        if (blank) return
        if (unit === quote) this.#startText()
        else if (unit === 123 || unit === 91) { this.#depth = 1; this.#place = 'nested'; this.#fields.begin(this.#key, unit === 91 ? '[…]' : '{…}'); this.#fields.end() }
        else if (unit === 125 || unit === 44) this.#place = 'nonsense'
        else { this.#place = 'literal'; this.#fields.begin(this.#key, String.fromCharCode(unit)) }
        return
      case 'nested': this.#readNested(unit); return
      case 'literal':
      case 'comma-or-end':
        if (unit === 44) { this.#place = 'key-or-end'; this.#fields.end() }
        else if (unit === 125) this.#place = 'closed'
        else if (!blank && this.#place === 'comma-or-end') this.#place = 'nonsense'
        else if (!blank) this.#fields.grow(String.fromCharCode(unit))
        return
      default: return
    }
  }

  #readNested(unit: number): void {
    if (unit === quote) this.#place = 'nested-text'
    else if (unit === 123 || unit === 91) this.#depth++
    else if ((unit === 125 || unit === 93) && --this.#depth === 0) this.#place = 'comma-or-end'
  }
}

/** What a character after a backslash stands for: \b \f \n \r \t have a meaning, any other is itself. */
function unescaped(unit: number): number {
  switch (unit) {
    case 110: return 10
    case 116: return 9
    case 114: return 13
    case 98: return 8
    case 102: return 12
    default: return unit
  }
}

function hexDigit(unit: number): number | null {
  if (unit >= 48 && unit <= 57) return unit - 48
  const lower = unit | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : null
}
