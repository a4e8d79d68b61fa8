import fc from 'fast-check'

/** What two readers have been found to read differently, to be thrown between the bytes of a message. */
const oddities = [
  '\r', '\n', '\r\n', '\r\n\r\n', '\n\n', '\0', ' ', '\t', ':', ',', ';', '0', '1', 'a', '+', '-', '0x', '\u000b', '\u000c', '\u0080', '\u00ff', '\u001f', '\u007f', '"', ' HTTP/1.1', ' HTTP/1.0', 'HTTP/2.0', '?', '#', '/', '*', '%00',
  'Content-Length: 3\r\n', 'Content-Length: 0\r\n', 'content-length : 3\r\n', 'Content-Length:\t3\r\n', 'Content-Length: 3, 3\r\n', 'Content-Length: 03\r\n', 'Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: identity\r\n', 'transfer-encoding:chunked\r\n', 'Transfer-Encoding: chunked, chunked\r\n', 'Transfer-Encoding:\r\n chunked\r\n', ' folded: x\r\n',
  'Connection: close\r\n', 'Connection: keep-alive\r\n', 'Expect: 100-continue\r\n', 'Upgrade: h2c\r\n', 'X: y\r\n', ':empty\r\n', 'no colon\r\n', '3\r\nabc\r\n', '0\r\n\r\n', '3;x=y\r\nabc\r\n', '03\r\nabc\r\n', '3 \r\nabc\r\n', 'g\r\n', 'ffffffffffffffff\r\n', '0\r\nX: y\r\n\r\n', '0\r\n X: y\r\n\r\n',
] as const

/** Bytes with a few edits: an oddity put in, bytes taken out, a stretch said twice. */
export function edited(wholes: readonly string[]): fc.Arbitrary<Buffer> {
  const edit = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), what: fc.oneof(fc.record({ put: fc.constantFrom(...oddities) }), fc.record({ cut: fc.integer({ min: 1, max: 8 }) }), fc.record({ twice: fc.integer({ min: 1, max: 40 }) })) })
  return fc.tuple(fc.array(fc.constantFrom(...wholes), { minLength: 1, maxLength: 3 }), fc.array(edit, { maxLength: 3 })).map(([texts, edits]) => {
    let text = texts.join('')
    for (const { at, what } of edits) {
      const place = Math.floor(at * text.length)
      if ('put' in what) text = text.slice(0, place) + what.put + text.slice(place)
      else if ('cut' in what) text = text.slice(0, place) + text.slice(place + what.cut)
      else text = text.slice(0, place) + text.slice(place, place + what.twice) + text.slice(place)
    }
    return Buffer.from(text, 'latin1')
  })
}

/** Where to cut bytes into pieces, as shares of their length. */
export const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 })

/** The bytes in pieces, cut there. */
export function cutAt(bytes: Buffer, shares: readonly number[]): Buffer[] {
  const places = [0, ...shares.map((share) => Math.floor(share * bytes.length)).sort((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end)).filter(({ length }) => length > 0)
}

/** How many cases: a share of them in CI; `HTTP1_FUZZ=100000` for a long run. */
export const cases = Number(process.env['HTTP1_FUZZ'] ?? 1_500)
