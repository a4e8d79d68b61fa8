import { request } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'

/** A Unix socket before another one, which can be cut and opened again. */
export interface Relay {
  readonly path: string
  /** Ends all connections; new ones are ended at once, until `mend`. */
  cut(): void
  mend(): void
  /** One request past the relay, straight to the server behind it, with Basic auth; null for none. A body that is no JSON is given as text. */
  request(method: string, path: string, password: string | null, body?: unknown): Promise<{ readonly status: number; readonly body: unknown }>
  close(): Promise<void>
}

export async function openRelay(path: string, target: string): Promise<Relay> {
  const open = new Set<Socket>()
  let isCut = false
  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (isCut) { near.destroy(); return }
    const far = connect({ path: target, allowHalfOpen: true })
    for (const [one, other] of [[near, far], [far, near]] as const) {
      open.add(one)
      one.on('error', () => { other.destroy() })
      one.on('close', () => { open.delete(one); other.destroy() })
      one.pipe(other)
    }
  })
  await new Promise<void>((resolve) => { server.listen(path, resolve) })
  const cut = (): void => { isCut = true; for (const socket of open) socket.destroy() }
  return {
    path, cut,
    mend() { isCut = false },
    request: (method, route, password, body) => new Promise((resolve, reject) => {
      const sent = request({ socketPath: target, agent: false, method, path: route, headers: { ...(password === null ? {} : { authorization: `Basic ${Buffer.from(`opencode:${password}`).toString('base64')}` }), 'content-type': 'application/json' } }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => { text += chunk }).on('end', () => {
          resolve({ status: response.statusCode ?? 0, body: text === '' ? null : response.headers['content-type']?.includes('json') === true ? JSON.parse(text) as unknown : text })
        })
      })
      sent.on('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    }),
    async close() { cut(); await new Promise((resolve) => { server.close(resolve) }) },
  }
}
