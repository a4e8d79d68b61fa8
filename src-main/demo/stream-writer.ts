import type { ServerResponse } from 'node:http'

/** Writes one reply's stream; knows when the client has gone, so that waiting ends at once. */
export class StreamWriter {
  readonly #response: ServerResponse
  #gone = false
  #wake: (() => void) | null = null

  constructor(response: ServerResponse) {
    this.#response = response
    response.on('close', () => {
      this.#gone = true
      this.#wake?.()
    })
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' })
  }

  get gone(): boolean {
    return this.#gone
  }

  write(frame: string): void {
    if (!this.#gone) this.#response.write(frame)
  }

  end(): void {
    this.#response.end()
  }

  /** Waits, or less when the client goes away. */
  pause(ms: number): Promise<void> {
    if (this.#gone) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake?.(), ms)
      this.#wake = () => {
        clearTimeout(timer)
        this.#wake = null
        resolve()
      }
    })
  }
}
