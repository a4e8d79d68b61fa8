import { t } from '../i18n/text.ts'

/** A stretch of text as it is to be shown: plain, or something that an eye would miss or mistake, spelled out. */
export type Piece = { readonly is: 'text'; readonly text: string } | { readonly is: 'mark'; readonly why: MarkReason; readonly label: string; readonly name: string; readonly raw: string }

/** Why a piece is spelled out: it cannot be seen, it reorders, it controls, it is padding, or it looks like something else. */
type MarkReason = 'invisible' | 'direction' | 'control' | 'space' | 'padding' | 'lookalike'

/** `command`: every look-alike of an ASCII sign is marked. `prose`: look-alikes only inside words that mix scripts. */
export type Strictness = 'command' | 'prose'

/** Blanks and empty lines in a row from which on they are padding and are shown as a number. */
const blanksMax = 12
const emptyLinesMax = 3

/** By their names in Unicode, which no language translates. */
const named: ReadonlyMap<number, readonly [MarkReason, string]> = new Map<number, readonly [MarkReason, string]>([
  [0x00ad, ['invisible', 'soft hyphen']], [0x034f, ['invisible', 'combining grapheme joiner']], [0x061c, ['direction', 'Arabic letter mark']],
  [0x115f, ['invisible', 'Hangul choseong filler']], [0x1160, ['invisible', 'Hangul jungseong filler']], [0x17b4, ['invisible', 'Khmer inherent vowel']], [0x17b5, ['invisible', 'Khmer inherent vowel']],
  [0x180e, ['invisible', 'Mongolian vowel separator']], [0x200b, ['invisible', 'zero width space']], [0x200c, ['invisible', 'zero width non-joiner']], [0x200d, ['invisible', 'zero width joiner']],
  [0x200e, ['direction', 'left-to-right mark']], [0x200f, ['direction', 'right-to-left mark']], [0x2028, ['control', 'line separator']], [0x2029, ['control', 'paragraph separator']],
  [0x202a, ['direction', 'left-to-right embedding']], [0x202b, ['direction', 'right-to-left embedding']], [0x202c, ['direction', 'pop directional formatting']], [0x202d, ['direction', 'left-to-right override']], [0x202e, ['direction', 'right-to-left override']],
  [0x2060, ['invisible', 'word joiner']], [0x2061, ['invisible', 'function application']], [0x2062, ['invisible', 'invisible times']], [0x2063, ['invisible', 'invisible separator']], [0x2064, ['invisible', 'invisible plus']],
  [0x2066, ['direction', 'left-to-right isolate']], [0x2067, ['direction', 'right-to-left isolate']], [0x2068, ['direction', 'first strong isolate']], [0x2069, ['direction', 'pop directional isolate']],
  [0x2800, ['space', 'Braille blank']], [0x3164, ['invisible', 'Hangul filler']], [0xfeff, ['invisible', 'byte order mark']], [0xffa0, ['invisible', 'half-width Hangul filler']],
  [0xfff9, ['control', 'interlinear annotation']], [0xfffa, ['control', 'interlinear annotation']], [0xfffb, ['control', 'interlinear annotation']], [0xfffc, ['invisible', 'object replacement']], [0xfffd, ['control', 'replacement for bytes that are no text']],
])

const controlNames = ['NUL', 'SOH', 'STX', 'ETX', 'EOT', 'ENQ', 'ACK', 'BEL', 'BS', 'TAB', 'LF', 'VT', 'FF', 'CR', 'SO', 'SI', 'DLE', 'DC1', 'DC2', 'DC3', 'DC4', 'NAK', 'SYN', 'ETB', 'CAN', 'EM', 'SUB', 'ESC', 'FS', 'GS', 'RS', 'US'] as const

/** Letters of other scripts that look like an ASCII letter or digit in common fonts (after Unicode's confusables table). */
const letterLookalikes: ReadonlyMap<number, string> = new Map([
  [0x0430, 'a'], [0x0251, 'a'], [0x03b1, 'a'], [0x042c, 'b'], [0x0441, 'c'], [0x03f2, 'c'], [0x0501, 'd'], [0x0435, 'e'], [0x04bb, 'h'], [0x0456, 'i'], [0x0131, 'i'], [0x0269, 'i'], [0x03b9, 'i'], [0x0458, 'j'], [0x03f3, 'j'], [0x04cf, 'l'], [0x0578, 'n'],
  [0x043e, 'o'], [0x03bf, 'o'], [0x0585, 'o'], [0x03c3, 'o'], [0x0440, 'p'], [0x03c1, 'p'], [0x051b, 'q'], [0x0433, 'r'], [0x0455, 's'], [0x03c5, 'u'], [0x057d, 'u'], [0x03bd, 'v'], [0x0475, 'v'], [0x051d, 'w'], [0x0445, 'x'], [0x03c7, 'x'], [0x0443, 'y'], [0x03b3, 'y'],
  [0x0410, 'A'], [0x0391, 'A'], [0x0412, 'B'], [0x0392, 'B'], [0x0421, 'C'], [0x03f9, 'C'], [0x0415, 'E'], [0x0395, 'E'], [0x041d, 'H'], [0x0397, 'H'], [0x0406, 'I'], [0x0399, 'I'], [0x0408, 'J'], [0x041a, 'K'], [0x039a, 'K'], [0x041c, 'M'], [0x039c, 'M'], [0x039d, 'N'],
  [0x041e, 'O'], [0x039f, 'O'], [0x0420, 'P'], [0x03a1, 'P'], [0x0405, 'S'], [0x0422, 'T'], [0x03a4, 'T'], [0x04ae, 'Y'], [0x03a5, 'Y'], [0x0425, 'X'], [0x03a7, 'X'], [0x0396, 'Z'], [0x0417, '3'], [0x0431, '6'], [0x043a, 'k'], [0x03ba, 'k'], [0x043c, 'm'], [0x0442, 't'], [0x03c4, 't'], [0x0432, 'b'], [0x043d, 'h'],
])

/** Signs that look like an ASCII sign that means something to a shell. Typographic ones are ordinary in prose. */
const signLookalikes: ReadonlyMap<number, string> = new Map([
  [0x2010, '-'], [0x2011, '-'], [0x2012, '-'], [0x2013, '-'], [0x2014, '-'], [0x2212, '-'], [0xfe63, '-'], [0x02d7, '-'], [0x2044, '/'], [0x2215, '/'], [0x29f8, '/'], [0x2571, '/'], [0x2216, '\\'], [0x29f5, '\\'], [0x037e, ';'], [0x0589, ':'], [0xa789, ':'], [0x2236, ':'], [0x02d0, ':'],
  [0x2024, '.'], [0x201a, ','], [0x066c, ','], [0x2018, "'"], [0x2019, "'"], [0x02bc, "'"], [0x2032, "'"], [0x201b, "'"], [0x201c, '"'], [0x201d, '"'], [0x2033, '"'], [0x02cb, '`'], [0x01c0, '|'], [0x2223, '|'], [0x2502, '|'], [0x05c7, '|'], [0x02dc, '~'], [0x223c, '~'], [0x27e8, '<'], [0x2039, '<'], [0x203a, '>'], [0x27e9, '>'], [0x01c3, '!'], [0xfe61, '*'], [0x2217, '*'], [0x204e, '*'], [0xff04, '$'], [0xfe69, '$'],
])

/** The ASCII sign of a full-width form or a mathematical letter or digit, which are drawn like it. */
function compatibleAscii(char: string, code: number): string | null {
  if (code < 0xff01 && !(code >= 0x2100 && code <= 0x214f) && !(code >= 0x2460 && code <= 0x24ff)) return null
  if (code > 0xff5e && !(code >= 0x1d400 && code <= 0x1d7ff)) return null
  const plain = char.normalize('NFKC')
  return plain.length === 1 && plain.charCodeAt(0) > 0x20 && plain.charCodeAt(0) < 0x7f ? plain : null
}

const codeLabel = (code: number): string => `U+${code.toString(16).toUpperCase().padStart(4, '0')}`

function unseen(code: number, raw: string): Piece | null {
  if (code < 0x20 || code === 0x7f) {
    if (code === 0x0a || code === 0x09) return null
    const name = code === 0x7f ? 'DEL' : (controlNames[code] ?? 'control')
    return { is: 'mark', why: 'control', label: name, name: `${codeLabel(code)} ${t.marks.controlNamed({ name })}`, raw }
  }
  const found = named.get(code)
  if (found !== undefined) return { is: 'mark', why: found[0], label: codeLabel(code), name: `${codeLabel(code)} ${found[1]}`, raw }
  const why: MarkReason | null =
    code >= 0x80 && code <= 0x9f ? 'control'
    : (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0000 && code <= 0xe0fff) || (code >= 0x180b && code <= 0x180f) || (code >= 0x206a && code <= 0x206f) || (code >= 0x1d173 && code <= 0x1d17a) ? 'invisible'
    : code === 0xa0 || code === 0x1680 || (code >= 0x2000 && code <= 0x200a) || code === 0x202f || code === 0x205f || code === 0x3000 ? 'space'
    : (code >= 0xd800 && code <= 0xdfff) || (code >= 0xfdd0 && code <= 0xfdef) || (code & 0xfffe) === 0xfffe ? 'control'
    : (code >= 0xe000 && code <= 0xf8ff) || code >= 0xf0000 ? 'invisible'
    : null
  return why === null ? null : { is: 'mark', why, label: codeLabel(code), name: `${codeLabel(code)} ${t.marks[why]}`, raw }
}

const asciiLetter = /[A-Za-z]/
const wordBreak = /[\s/\\|&;<>()$`"'=,:{}[\]]/

/** Whether a word is to be suspected: it mixes scripts, or it is built of look-alikes only and would be read as ASCII. */
function suspicious(word: readonly string[], strictness: Strictness): boolean {
  const letters = word.filter((char) => /\p{L}/u.test(char))
  const alike = letters.filter((char) => letterLookalikes.has(char.codePointAt(0) ?? 0)).length
  if (alike === 0) return false
  if (letters.some((char) => asciiLetter.test(char))) return true
  return strictness === 'command' && alike === letters.length
}

function lookalike(char: string, code: number, inSuspiciousWord: boolean, strictness: Strictness): Piece | null {
  const ascii = compatibleAscii(char, code) ?? (inSuspiciousWord ? letterLookalikes.get(code) : undefined) ?? (strictness === 'command' ? signLookalikes.get(code) : undefined)
  if (ascii === undefined) return null
  return { is: 'mark', why: 'lookalike', label: `${char} ${codeLabel(code)}`, name: `${codeLabel(code)} ${t.marks.looksLike({ ascii })}`, raw: char }
}

/** Which characters of a text belong to a suspicious word. */
function suspects(chars: readonly string[], strictness: Strictness): readonly boolean[] {
  const result = new Array<boolean>(chars.length).fill(false)
  let start = 0
  for (let at = 0; at <= chars.length; at += 1) {
    const char = chars[at]
    if (char !== undefined && !wordBreak.test(char)) continue
    if (at > start && suspicious(chars.slice(start, at), strictness)) result.fill(true, start, at)
    start = at + 1
  }
  return result
}

/** Length of the run of padding that starts at `at`: blanks in a row, or empty lines in a row; 0 when it is none. */
function paddingAt(chars: readonly string[], at: number): { readonly length: number; readonly label: string } | null {
  const first = chars[at]
  if (first !== ' ' && first !== '\t' && first !== '\n') return null
  let end = at
  while (chars[end] === first) end += 1
  const length = end - at
  if (first === '\n') return length > emptyLinesMax + 1 ? { length, label: t.marks.emptyLines({ n: length - 1 }) } : null
  return length > blanksMax ? { length, label: first === ' ' ? t.marks.spaces({ n: length }) : t.marks.tabs({ n: length }) } : null
}

/**
 * Cuts a text into pieces so that nothing in it is hidden: invisible, direction, control and unusual space characters,
 * characters that pass for others, and padding are spelled out. Joining `text` and `raw` gives the exact text again.
 */
export function visiblePieces(text: string, strictness: Strictness): readonly Piece[] {
  // Lone surrogates stay single units in this iteration and are marked as controls.
  const chars = [...text]
  const suspected = suspects(chars, strictness)
  const pieces: Piece[] = []
  let plain = ''
  const flush = (): void => {
    if (plain !== '') pieces.push({ is: 'text', text: plain })
    plain = ''
  }
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at] ?? ''
    const code = char.codePointAt(0) ?? 0
    const padding = indentation(chars, at) ? null : paddingAt(chars, at)
    if (padding !== null) {
      flush()
      pieces.push({ is: 'mark', why: 'padding', label: padding.label, name: padding.label, raw: chars.slice(at, at + padding.length).join('') })
      at += padding.length - 1
      continue
    }
    const mark = unseen(code, char) ?? lookalike(char, code, suspected[at] ?? false, strictness)
    if (mark === null) {
      plain += char
      continue
    }
    flush()
    pieces.push(mark)
  }
  flush()
  return pieces
}

/** Blanks at the start of a line are how code is indented, up to what still leaves the line in view. */
const indentMax = 40

function indentation(chars: readonly string[], at: number): boolean {
  if (chars[at] !== ' ' && chars[at] !== '\t') return false
  let start = at
  while (start > 0 && (chars[start - 1] === ' ' || chars[start - 1] === '\t')) start -= 1
  let end = at
  while (chars[end] === ' ' || chars[end] === '\t') end += 1
  return (start === 0 || chars[start - 1] === '\n') && end - start <= indentMax
}

/**
 * Whether a character reorders or controls the text around it. Ordinary prose is full of joiners, emoji and no-break spaces, so that these are
 * left as they are where people read and do not approve. A carriage return belongs to a line's end.
 */
function misleads(code: number): boolean {
  if (code < 0xa0) return code < 0x20 ? code !== 0x09 && code !== 0x0a && code !== 0x0d : code >= 0x7f
  return code === 0x061c || code === 0x200e || code === 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x206f) || (code >= 0xfff9 && code <= 0xfffb)
}

/** Cuts prose into pieces in which nothing reorders or controls what is around it. Joining `text` and `raw` gives the exact text again. */
export function plainPieces(text: string): readonly Piece[] {
  const pieces: Piece[] = []
  let from = 0
  const flush = (to: number): void => {
    if (to > from) pieces.push({ is: 'text', text: text.slice(from, to) })
  }
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    const mark = misleads(code) ? unseen(code, text.charAt(at)) : null
    if (mark === null) continue
    flush(at)
    pieces.push(mark)
    from = at + 1
  }
  flush(text.length)
  return pieces
}

/** How many things a text hides; for the sentence above it. */
export function markCount(pieces: readonly Piece[]): number {
  return pieces.filter((piece) => piece.is === 'mark').length
}
