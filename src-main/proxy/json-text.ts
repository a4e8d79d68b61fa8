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
