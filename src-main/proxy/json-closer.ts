type Awaited = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end'

/**
 * What makes a JSON text that breaks off anywhere a whole one: open strings, objects and lists are closed, what is missing in
 * between becomes null. `closeJson('{"a":[tr')` is `'ue]}'`. For text that is no beginning of JSON the result means nothing.
 * Looks at each character once.
 */
export function closeJson(text: string): string {
  const open: ('}' | ']')[] = []
  let awaited = 'value' as Awaited
  /** Where the string, number or word begins that is being read; -1 between them. */
  let from = -1
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (from >= 0 && text.charAt(from) === '"') {
      if (char !== '"' || isEscaped(text, at)) continue
      awaited = awaited === 'key' || awaited === 'key-or-end' ? 'colon' : 'comma-or-end'
      from = -1
      continue
    }
    if (from >= 0 && !/[\s,\]}]/.test(char)) continue
    if (from >= 0) { from = -1; awaited = 'comma-or-end' }
    if (char === '{') { open.push('}'); awaited = 'key-or-end' }
    else if (char === '[') { open.push(']'); awaited = 'value-or-end' }
    else if (char === '}' || char === ']') { open.pop(); awaited = 'comma-or-end' }
    else if (char === ':') awaited = 'value'
    else if (char === ',') awaited = open.at(-1) === '}' ? 'key' : 'value'
    else if (!/\s/.test(char)) from = at
  }
  return endOf(from < 0 ? '' : text.slice(from), awaited) + open.reverse().join('')
}

function endOf(token: string, awaited: Awaited): string {
  const isKey = awaited === 'key' || awaited === 'key-or-end'
  if (token.startsWith('"')) return `${endOfEscape(token)}"${isKey ? ':null' : ''}`
  if (token !== '') return ['true', 'false', 'null'].find((word) => word.startsWith(token))?.slice(token.length) ?? (/\d$/.test(token) ? '' : '0')
  if (awaited === 'value') return 'null'
  if (awaited === 'key') return '"":null'
  return awaited === 'colon' ? ':null' : ''
}

/** Ends an escape sequence that is open at the end of a string. */
function endOfEscape(token: string): string {
  const hex = /\\u[0-9a-fA-F]{0,3}$/.exec(token)
  if (hex !== null && !isEscaped(token, hex.index)) return '0'.repeat(6 - hex[0].length)
  return isEscaped(token, token.length) ? '\\' : ''
}

/** Whether the character at this place stands behind a backslash that escapes it. */
function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charAt(at - 1 - backslashes) === '\\') backslashes++
  return backslashes % 2 === 1
}
