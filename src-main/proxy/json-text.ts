/** The JSON value of a text, or null where it is none. */
export function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** A whole body as text; null when it is larger than `bytesMax`. The rest of such a one is not read. */
export async function boundedText(body: AsyncIterable<Buffer>, bytesMax: number): Promise<string | null> {
  const held: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > bytesMax) return null
    held.push(chunk)
  }
  return Buffer.concat(held).toString('utf8')
}

/** The code of `"`. */
export const quote = 34

/** Where the string that begins at `from` ends: behind its closing quote, or where the text ends when it has none. */
export function endOfString(text: string, from: number): number {
  let at = text.indexOf('"', from + 1)
  while (isEscaped(text, at)) at = text.indexOf('"', at + 1)
  return at === -1 ? text.length : at + 1
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === 92) backslashes++
  return backslashes % 2 === 1
}

/**
 * How many members the outermost object of a JSON text has; null where the text holds more than `valuesMax` values (a member counts as one, and so does
 * each object and array) or nests deeper than `depthMax`. Looks at each character once, which takes far less than reading so many. What it says of a text that
 * is no JSON means nothing.
 */
export function membersWithin(text: string, { valuesMax, depthMax }: { readonly valuesMax: number; readonly depthMax: number }): number | null {
  let [depth, values, commas, isEmpty] = [0, 0, 0, true]
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === quote) { at = endOfString(text, at) - 1; isEmpty = false }
    else if (unit === 125 || unit === 93) depth--
    else if (unit === 44) {
      if (depth === 1) commas++
      if (++values > valuesMax) return null
    } else if ((unit === 123 || unit === 91) && (++values > valuesMax || ++depth > depthMax)) return null
  }
  return isEmpty ? 0 : commas + 1
}
