/**
 * One line of a .gitignore, as gitignore(5) and git's wildmatch.c define it. Own code instead of a regular-expression library: the patterns
 * come from repositories that nobody vouches for, and a backtracking matcher can be made to hang. This one simulates all states at once, in
 * time proportional to pattern × path. It is tested against `git check-ignore`.
 */
export interface IgnorePattern {
  readonly negative: boolean
  readonly foldersOnly: boolean
  /** Compared with the last name only (no slash in the pattern), else with the whole path below the rules' folder. */
  readonly nameOnly: boolean
  matches(text: string): boolean
}

type Token =
  | { readonly is: 'char'; readonly code: number }
  | { readonly is: 'one' }
  | { readonly is: 'set'; readonly has: (code: number) => boolean }
  | { readonly is: 'star' }
  /** Zero or more folders: `fork` may skip the `folders` after it. */
  | { readonly is: 'fork' }
  | { readonly is: 'folders' }
  | { readonly is: 'rest' }

const patternBytesMax = 1_024
const slash = 0x2f

/** Git compares bytes, so a text is spread out to one character a byte. */
export const bytewise = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

/** Reads one line (without its line end); null for blanks, comments, and what can never match. `matches` takes `bytewise` text. */
export function parseIgnoreLine(line: string): IgnorePattern | null {
  if (line.startsWith('#')) return null
  let text = withoutTrailingSpaces(bytewise(line))
  const negative = text.startsWith('!')
  if (negative) text = text.slice(1)
  const foldersOnly = text.endsWith('/')
  if (foldersOnly) text = text.slice(0, -1)
  const nameOnly = !text.includes('/')
  if (text.startsWith('/')) text = text.slice(1)
  if (text === '' || text.length > patternBytesMax) return null
  if (!/[*?[\\]/.test(text)) return { negative, foldersOnly, nameOnly, matches: (candidate) => candidate === text }
  const plain = /^(\*?)([^*?[\\]*)(\*?)$/.exec(text)
  if (nameOnly && plain !== null) return { negative, foldersOnly, nameOnly, matches: plainMatcher(plain[1] === '*', plain[2] ?? '', plain[3] === '*') }
  const tokens = compile(text, nameOnly)
  return tokens === null ? null : { negative, foldersOnly, nameOnly, matches: (candidate) => simulate(tokens, candidate) }
}

/** The usual kinds, `*.log` and `build*`, without the machinery. */
function plainMatcher(starBefore: boolean, literal: string, starAfter: boolean): (text: string) => boolean {
  if (starBefore && starAfter) return (text) => text.includes(literal)
  if (starBefore) return (text) => text.endsWith(literal)
  return (text) => text.startsWith(literal)
}

/** Trailing spaces do not count unless the first of them is escaped. */
function withoutTrailingSpaces(text: string): string {
  let end = -1
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i]
    if (char === ' ') {
      if (end < 0) end = i
    } else {
      end = -1
      if (char === '\\') i += 1
    }
  }
  return end < 0 ? text : text.slice(0, end)
}

function compile(pattern: string, nameOnly: boolean): readonly Token[] | null {
  const tokens: Token[] = []
  let i = 0
  while (i < pattern.length) {
    const char = pattern[i]
    if (char === '\\') {
      if (i + 1 >= pattern.length) return null
      tokens.push({ is: 'char', code: pattern.charCodeAt(i + 1) })
      i += 2
    } else if (char === '?') {
      tokens.push({ is: 'one' })
      i += 1
    } else if (char === '[') {
      const set = readSet(pattern, i)
      if (set === null) return null
      tokens.push({ is: 'set', has: set.has })
      i = set.end
    } else if (char === '*') {
      i = compileStars(pattern, i, nameOnly, tokens)
    } else {
      tokens.push({ is: 'char', code: pattern.charCodeAt(i) })
      i += 1
    }
  }
  return tokens
}

// Two stars reach across folders only when they are a whole component; otherwise any number of stars is one star.
function compileStars(pattern: string, from: number, nameOnly: boolean, tokens: Token[]): number {
  let end = from
  while (pattern[end] === '*') end += 1
  // Git compares what stands before the first special character by itself and starts anew behind it, so that `x**/a` is whole too.
  const whole = end - from >= 2 && (pattern[from - 1] === '/' || from === pattern.search(/[*?[\\]/))
  if (!nameOnly && whole && (end === pattern.length || pattern.startsWith('\\/', end))) {
    tokens.push({ is: 'rest' })
  } else if (!nameOnly && whole && pattern[end] === '/') {
    tokens.push({ is: 'fork' }, { is: 'folders' })
    end += 1
  } else {
    tokens.push({ is: 'star' })
  }
  return end
}

const classes: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/, alpha: /[A-Za-z]/, blank: /[ \t]/, cntrl: /[^ -\uffff]|\x7f/, digit: /[0-9]/, graph: /[\x21-\x7e]/, lower: /[a-z]/,
  print: /[\x20-\x7e]/, punct: /[!-/:-@[-`{-~]/, space: /[ \t\n\v\f\r]/, upper: /[A-Z]/, xdigit: /[0-9A-Fa-f]/,
}

/** Reads `[…]` from `from`. Null when it is not closed or names an unknown class: git then matches nothing. */
function readSet(pattern: string, from: number): { readonly has: (code: number) => boolean; readonly end: number } | null {
  let i = from + 1
  const negated = pattern[i] === '!' || pattern[i] === '^'
  if (negated) i += 1
  const members: ((code: number) => boolean)[] = []
  let previous = 0
  let first = true
  for (;;) {
    if (i >= pattern.length) return null
    const char = pattern[i] ?? ''
    if (char === ']' && !first) break
    first = false
    let code = char.charCodeAt(0)
    if (char === '-' && previous !== 0 && i + 1 < pattern.length && pattern[i + 1] !== ']') {
      i += pattern[i + 1] === '\\' ? 2 : 1
      if (i >= pattern.length) return null
      const low = previous
      const high = pattern.charCodeAt(i)
      members.push((candidate) => candidate >= low && candidate <= high)
      code = 0
    } else if (char === '[' && pattern[i + 1] === ':' && /^\[:[^\]]*:\]/.test(pattern.slice(i))) {
      const end = pattern.indexOf(']', i)
      const known = classes[pattern.slice(i + 2, end - 1)]
      if (known === undefined) return null
      members.push((candidate) => known.test(String.fromCharCode(candidate)))
      i = end
      code = 0
    } else {
      if (char === '\\') {
        i += 1
        if (i >= pattern.length) return null
        code = pattern.charCodeAt(i)
      }
      const only = code
      members.push((candidate) => candidate === only)
    }
    previous = code
    i += 1
  }
  return { has: (code) => members.some((member) => member(code)) !== negated, end: i + 1 }
}

function simulate(tokens: readonly Token[], text: string): boolean {
  let now = new Uint8Array(tokens.length + 1)
  let next = new Uint8Array(tokens.length + 1)
  reach(tokens, now, 0)
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    next.fill(0)
    let alive = false
    for (let i = 0; i < tokens.length; i += 1) {
      const token = tokens[i]
      if (now[i] !== 1 || token === undefined) continue
      const step = advance(token, code)
      if (step !== 'stop') alive = true
      if (step === 'stay' || step === 'both') reach(tokens, next, i)
      if (step === 'next' || step === 'both') reach(tokens, next, i + 1)
    }
    if (!alive) return false
    const spent = now
    now = next
    next = spent
  }
  return now[tokens.length] === 1
}

function advance(token: Token, code: number): 'stop' | 'stay' | 'next' | 'both' {
  switch (token.is) {
    case 'char': return token.code === code ? 'next' : 'stop'
    case 'one': return code === slash ? 'stop' : 'next'
    case 'set': return code !== slash && token.has(code) ? 'next' : 'stop'
    case 'star': return code === slash ? 'stop' : 'stay'
    case 'fork': return 'stop'
    case 'folders': return code === slash ? 'both' : 'stay'
    case 'rest': return 'stay'
  }
}

/** Marks a state and those reached from it without reading a character. */
function reach(tokens: readonly Token[], states: Uint8Array, from: number): void {
  states[from] = 1
  const token = tokens[from]
  if (token === undefined) return
  if (token.is === 'star' || token.is === 'rest') reach(tokens, states, from + 1)
  if (token.is === 'fork') {
    reach(tokens, states, from + 1)
    reach(tokens, states, from + 2)
  }
}
