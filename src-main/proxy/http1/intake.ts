/**
 * Bytes of bodies that have begun and are not whole yet, of all connections together: any client with a token could open many, and their memory is
 * everybody's. A body that does not fit any more is read over.
 */
export class Intake {
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Takes so many more bytes; false, and none is taken: they are too many. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#bytesMax) return false
    this.#bytes += bytes
    return true
  }

  /** A body is whole, or given up. */
  release(bytes: number): void {
    this.#bytes -= bytes
  }
}
