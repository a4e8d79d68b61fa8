import { createServer, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { taskIdSchema } from '../../src-preload/contract/ids.ts'
import type { FromProxy, GatewayGrant } from '../core/gateway/messages.ts'
import { directOnly, type ServingRules } from '../core/gateway/vendor.ts'
import type { Admission, AdmissionAsk } from './admission.ts'
import type { IdleLimits } from './idle-watch.ts'
import { createProxy, type Proxy, type ProxyDeps } from './proxy.ts'
import { processTime, type Time } from './time.ts'
import type { VendorHost } from './vendor-host.ts'

export const token = 'token-of-the-coder-0123456789-abcdefgh'

/** Everything that a test opened; `releaseAll` closes it, last first. */
const opened: (() => unknown)[] = []
export async function releaseAll(): Promise<void> {
  for (const release of opened.splice(0).reverse()) await release()
}
export function releaseLater(release: () => unknown): void {
  opened.push(release)
}

/** A loopback server that plays the vendor. Returns its base URL. */
export async function startVendor(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handle)
  releaseLater(() => new Promise((done) => { server.close(done); server.closeAllConnections() }))
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done) })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

export interface RunningProxy {
  readonly proxy: Proxy
  readonly port: number
  readonly socketPath: string
  /** The vendor's. */
  readonly baseUrl: string
  /** Everything that it posted to its parent, in order. */
  readonly posted: FromProxy[]
  readonly asks: AdmissionAsk[]
  /** Gives the grant anew, changed. */
  regrant(changes: Partial<GatewayGrant>): Promise<void>
  ofKind<K extends FromProxy['is']>(is: K): Extract<FromProxy, { is: K }>[]
}

export interface ProxyOptions {
  readonly target?: Partial<GatewayGrant['target']>
  readonly credential?: string | null
  readonly directEnabled?: boolean
  readonly serving?: Partial<ServingRules>
  readonly vendor?: VendorHost
  readonly limits?: NonNullable<ProxyDeps['limits']>
  readonly idle?: IdleLimits
  readonly time?: Time
  /** It has stopped. */
  readonly onStopped?: () => void
  /** Null: no answer at all. */
  readonly admit?: (ask: AdmissionAsk) => Admission | null
}

/** A whole proxy on real sockets with one grant for `baseUrl`; every call is admitted unless `admit` says otherwise. */
export async function startProxy(baseUrl: string, options: ProxyOptions = {}): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'cs-px-'))
  const posted: FromProxy[] = []
  const asks: AdmissionAsk[] = []
  const waiting: { readonly is: string; readonly resolve: (message: FromProxy) => void }[] = []
  const nextOf = <K extends FromProxy['is']>(is: K): Promise<Extract<FromProxy, { is: K }>> => new Promise((resolve) => { waiting.push({ is, resolve: resolve as (message: FromProxy) => void }) })
  const stopped: { resolve: () => void } = { resolve: () => undefined }
  const proxy = createProxy({
    time: options.time ?? processTime, onStopped: () => { stopped.resolve(); options.onStopped?.() }, ...(options.idle === undefined ? {} : { idle: options.idle }), ...(options.vendor === undefined ? {} : { vendor: options.vendor }), ...(options.limits === undefined ? {} : { limits: options.limits }),
    post: (message) => {
      posted.push(message)
      if (message.is === 'admission-ask') {
        asks.push(message.ask)
        const admission = options.admit === undefined ? { admit: true as const } : options.admit(message.ask)
        if (admission !== null) proxy.take({ is: 'admission', callNumber: message.ask.callNumber, admission })
      }
      const at = waiting.findIndex((entry) => entry.is === message.is)
      if (at >= 0) waiting.splice(at, 1)[0]?.resolve(message)
    },
  })
  releaseLater(async () => {
    const done = new Promise<void>((resolve) => { stopped.resolve = resolve })
    proxy.take({ is: 'stop' })
    await done
    rmSync(folder, { recursive: true, force: true })
  })
  const ready = nextOf('ready')
  proxy.take({ is: 'start', preferredPort: 0, firstCallNumber: 1, serving: { ...directOnly, vendorId: 'vendor', directEnabled: options.directEnabled ?? true, ...options.serving } })
  const { port } = await ready
  const socketPath = join(folder, 'proxy.sock')
  const grant: GatewayGrant = { grantId: 'gw_1', taskId: taskIdSchema.parse('task_1'), bot: 'coder', token, socketPath, credential: options.credential ?? null, target: { baseUrl, api: 'chat', modelId: 'm-1', providerLabel: 'Vendor', needsKey: false, ...options.target } }
  const regrant = async (changes: Partial<GatewayGrant>): Promise<void> => {
    const granted = nextOf('granted')
    proxy.take({ is: 'grant', grant: { ...grant, ...changes } })
    await granted
  }
  await regrant({})
  return { proxy, port: port ?? 0, socketPath, baseUrl, posted, asks, regrant, ofKind: (is) => posted.filter((message) => message.is === is) as never }
}

export interface Reply { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer; readonly text: string; readonly cut: boolean }

export interface AskOptions { readonly path?: string; readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string | Buffer; readonly socketPath?: string }

/** One raw HTTP request; `cut` says that the connection ended before the reply did. */
export function ask(to: { readonly port: number }, options: AskOptions = {}): Promise<Reply> {
  const body = options.body ?? JSON.stringify({ model: 'm-1', messages: [] })
  const where = options.socketPath === undefined ? { host: '127.0.0.1', port: to.port } : { socketPath: options.socketPath }
  return new Promise((resolve, reject) => {
    const request = httpRequest({ ...where, agent: false, path: options.path ?? '/v1/chat/completions', method: options.method ?? 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...options.headers } }, (response) => {
      const chunks: Buffer[] = []
      const settle = (cut: boolean): void => {
        const bytes = Buffer.concat(chunks)
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: bytes, text: bytes.toString('utf8'), cut })
      }
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => settle(false))
      response.on('error', () => settle(true))
    })
    request.on('error', reject)
    request.end(options.method === 'GET' ? undefined : body)
  })
}

/** The error code of an OpenAI-shaped error reply. */
export function codeOf(reply: Reply): string {
  return (JSON.parse(reply.text) as { error: { code: string } }).error.code
}
