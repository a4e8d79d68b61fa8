/** An event of the DevTools protocol, of the browser (`sessionId` null) or of one page. */
export interface DevToolsEvent { readonly method: string; readonly params: Readonly<Record<string, unknown>>; readonly sessionId: string | null }

interface Reply { readonly id?: number; readonly method?: string; readonly params?: Record<string, unknown>; readonly sessionId?: string; readonly result?: Record<string, unknown>; readonly error?: { readonly message: string } }
interface Pending { readonly resolve: (result: Readonly<Record<string, unknown>>) => void; readonly reject: (error: Error) => void }

/**
 * A bare client of Chromium's debugging port: a driver that does nothing by itself, so that what is measured is the app.
 * Source: https://chromedevtools.github.io/devtools-protocol/
 */
export class DevTools {
  readonly #socket: WebSocket
  readonly #pending = new Map<number, Pending>()
  readonly #listeners = new Set<(event: DevToolsEvent) => void>()
  #sent = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', (message) => { this.#take(JSON.parse(String(message.data)) as Reply) })
    socket.addEventListener('close', () => {
      for (const { reject } of this.#pending.values()) reject(new Error('the debugging port was closed'))
      this.#pending.clear()
    })
  }

  /** Connects to the browser's endpoint, `ws://127.0.0.1:…/devtools/browser/…`. */
  static async connect(endpoint: string): Promise<DevTools> {
    const socket = new WebSocket(endpoint)
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => { resolve() }, { once: true })
      socket.addEventListener('error', () => { reject(new Error(`${endpoint} does not answer`)) }, { once: true })
    })
    return new DevTools(socket)
  }

  /** Calls a method of the browser, or of the page whose session is named. @throws with the protocol's own message */
  send(method: string, params: Readonly<Record<string, unknown>> = {}, sessionId: string | null = null): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.#sent
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      this.#socket.send(JSON.stringify({ id, method, params, ...(sessionId === null ? {} : { sessionId }) }))
    })
  }

  listen(listener: (event: DevToolsEvent) => void): void {
    this.#listeners.add(listener)
  }

  close(): void {
    this.#socket.close()
  }

  #take(reply: Reply): void {
    if (reply.id === undefined) {
      const event = { method: reply.method ?? '', params: reply.params ?? {}, sessionId: reply.sessionId ?? null }
      for (const listener of [...this.#listeners]) listener(event)
      return
    }
    const waiting = this.#pending.get(reply.id)
    this.#pending.delete(reply.id)
    if (reply.error === undefined) waiting?.resolve(reply.result ?? {})
    else waiting?.reject(new Error(reply.error.message))
  }
}
