import type { MessageTree } from '../../src-words/message.ts'

/** Letters that are read as their plain ones and seen to come from the catalogue. */
const accented: Readonly<Record<string, string>> = {
  a: 'á', b: 'ƀ', c: 'ç', d: 'ð', e: 'é', f: 'ƒ', g: 'ĝ', h: 'ĥ', i: 'í', j: 'ĵ', k: 'ķ', l: 'ļ', m: 'ɱ', n: 'ñ', o: 'ó', p: 'þ', q: 'ɋ', r: 'ŕ', s: 'š', t: 'ţ', u: 'ú', v: 'ṽ', w: 'ŵ', x: 'ẋ', y: 'ý', z: 'ž',
  A: 'Á', B: 'Ɓ', C: 'Ç', D: 'Ð', E: 'É', F: 'Ƒ', G: 'Ĝ', H: 'Ĥ', I: 'Í', J: 'Ĵ', K: 'Ķ', L: 'Ļ', M: 'Ɱ', N: 'Ñ', O: 'Ó', P: 'Þ', Q: 'Ɋ', R: 'Ŕ', S: 'Š', T: 'Ţ', U: 'Ú', V: 'Ṽ', W: 'Ŵ', X: 'Ẋ', Y: 'Ý', Z: 'Ž',
}

/** Longer than English by so much, as other languages are; short texts grow more. */
const longerBy = (length: number): number => (length <= 3 ? 1 : length < 12 ? Math.ceil(length * 0.4) : Math.ceil(length * 0.3))

function pseudoText(text: string): string {
  if (!/\p{L}/u.test(text)) return text
  const letters = Array.from(text, (char) => accented[char] ?? char).join('')
  const more = longerBy(text.trim().length)
  return more <= 1 ? letters : `${letters}${Array.from({ length: more }, (_, at) => (at % 6 === 5 ? ' ' : '~')).join('')}`
}

/** A piece of a compiled message: text, or a value with its kind and, of a number, what is said for each of its forms. */
type Piece = string | readonly [name: string, kind?: string, forms?: Readonly<Record<string, unknown>>]

/** A message with its text accented and made longer; names of values and kinds stay. */
function pseudoMessage(pieces: readonly Piece[]): readonly Piece[] {
  return pieces.map((piece): Piece => {
    if (typeof piece === 'string') return piece === '#' ? piece : pseudoText(piece)
    const [name, kind, forms] = piece
    if (kind !== 'plural' || forms === undefined) return piece
    return [name, kind, Object.fromEntries(Object.entries(forms).map(([form, said]) => [form, Array.isArray(said) ? pseudoMessage(said as readonly Piece[]) : said]))]
  })
}

/** A language for tests, made of the compiled English one: what does not look like it did not come from the catalogue, and what fits in it fits in others. */
export function pseudoWords(compiled: unknown): MessageTree {
  const visit = (tree: Readonly<Record<string, unknown>>): object => Object.fromEntries(Object.entries(tree).map(([name, node]) => [name, Array.isArray(node) ? pseudoMessage(node as readonly Piece[]) : visit(node as Readonly<Record<string, unknown>>)]))
  return visit(compiled as Readonly<Record<string, unknown>>) as MessageTree
}
