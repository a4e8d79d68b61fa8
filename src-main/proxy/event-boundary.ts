/** Ends of an event: two line ends in a row, each LF, CR LF or CR. Source: https://html.spec.whatwg.org/multipage/server-sent-events.html */
const anyBoundary = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)/g
const usual = [Buffer.from('\n\n'), Buffer.from('\r\n\r\n')] as const

/**
 * Finds where the last whole event of a stretch of bytes ends. A stream keeps to one kind of line end, so that this is one fast look from
 * the end; only what stands behind it is looked at for the others.
 */
export class EventBoundary {
  #kind: Buffer = usual[0]

  /** The place behind the first end of an event that is of the stream's kind; 0 if there is none of that kind. */
  firstAfter(bytes: Buffer): number {
    const at = bytes.indexOf(this.#kind)
    return at < 0 ? 0 : at + this.#kind.length
  }

  /** The place behind the last whole event; 0 if there is none. */
  after(bytes: Buffer): number {
    for (const kind of [this.#kind, ...usual]) {
      const at = bytes.lastIndexOf(kind)
      if (at < 0) continue
      this.#kind = kind
      const end = at + kind.length
      return end === bytes.length ? end : end + lastOf(bytes.toString('latin1', end))
    }
    return lastOf(bytes.toString('latin1'))
  }
}

/** A CR at the very end may be the first half of a CR LF: it ends nothing yet. */
function lastOf(text: string): number {
  let end = 0
  for (const found of text.matchAll(anyBoundary)) {
    const next = found.index + found[0].length
    if (next < text.length || !found[0].endsWith('\r')) end = next
  }
  return end
}
