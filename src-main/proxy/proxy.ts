import { failure } from '../../src-preload/contract/failure.ts'
import { toProxySchema, type FromProxy, type GatewayGrant, type ToProxy } from '../core/gateway/messages.ts'
import { directOnly, type ServingRules } from '../core/gateway/vendor.ts'
import { AdmissionDesk, type Admission } from './admission.ts'
import { createDirectPath } from './direct.ts'
import type { Doctrine } from './doctrine.ts'
import { createExecFallback } from './exec.ts'
import { TokenExchange } from './exchange.ts'
import { GrantTable } from './grants.ts'
import { HttpFront } from './http-front.ts'
import type { IdleLimits } from './idle-watch.ts'
import { OpenEnds } from './open-ends.ts'
import { proxyLimits } from './proxy-limits.ts'
import { cleanWords } from './redaction.ts'
import { serveModelCall } from './serving.ts'
import type { Time } from './time.ts'
import type { VendorHost } from './vendor-host.ts'
import { ParentVendorHost } from './vendor-parent.ts'
import { createWarmFallback, type WarmSilence } from './warm.ts'
import { WarmServer, type WarmLimits } from './warm-server.ts'

export interface ProxyDeps {
  readonly post: (message: FromProxy) => void
  readonly time: Time
  readonly onStopped: () => void
  /** It cannot listen; why is in the log. */
  readonly onDeaf?: () => void
  readonly idle?: IdleLimits
  /** Other bounds than `proxyLimits`, for tests. */
  readonly limits?: Partial<ProxyBounds>
  /** Who runs the vendor's program; by default the parent is asked. */
  readonly vendor?: VendorHost
}

type FallbackLimits = WarmLimits & WarmSilence & { readonly execMs: number }
type ProxyBounds = FallbackLimits & { readonly stopMs: number }

/**
 * The whole proxy behind its messages: hand each message of the app to `take`. One that is not understood is logged and dropped. `admit`: the
 * answer to an ask, from within this process; a message of the app says the same.
 */
export interface Proxy { take(message: unknown): void; admit(callNumber: number, admission: Admission): void }

/** Builds a proxy that listens on nothing until it gets `start`. */
export function createProxy(deps: ProxyDeps): Proxy {
  const { time } = deps
  const bounds: ProxyBounds = { ...proxyLimits, ...deps.limits }
  const open = new OpenEnds()
  const post = open.ofCalls(deps.post)
  const grants = new GrantTable()
  const log = (error: unknown): void => post({ is: 'log', level: 'error', message: error instanceof Error ? cleanWords(error.message) : 'unknown fault' })
  const admissions = new AdmissionDesk((ask) => post({ is: 'admission-ask', ask }), time)
  const parent = new ParentVendorHost(post, () => ways.doctrine.vendorId)
  const ways: Ways = new Ways(open.ofRuns(deps.vendor ?? parent), time, bounds)
  const direct = createDirectPath(time, log, deps.idle ?? proxyLimits)
  const exchange = new TokenExchange(time)
  let callNumber = 0
  const front = new HttpFront({
    grants, time,
    serve: (request) => serveModelCall(request, { direct, exchange, doctrine: () => ways.doctrine, admissions, nextCallNumber: () => callNumber++, time, post, onError: log }),
  })

  async function start(message: Extract<ToProxy, { is: 'start' }>): Promise<void> {
    callNumber = message.firstCallNumber
    parent.begin(message.firstCallNumber)
    ways.set(message.serving)
    const port = await front.listenTcp(message.preferredPort)
    post({ is: 'ready', port, note: movedNote(message.preferredPort, port) })
  }

  /** The app's answer, or our own, on a call. One that is let through is open until its end is told. */
  const decided = (number: number, admission: Admission): void => { if (admissions.answer(number, admission) && admission.admit) open.begun(number) }

  /** Ends everything, and has stopped once each call's end is told and nobody of the vendor's program is left, or when that takes too long. */
  async function stop(): Promise<void> {
    for (const grant of grants.all) grants.revoke(grant.grantId)
    ways.stop()
    front.close()
    direct.close()
    parent.close()
    await exchange.close()
    if (!(await open.whenNone(time, bounds.stopMs))) log(new Error(`what was open at the stop did not end within ${bounds.stopMs / 1_000} s`))
    deps.onStopped()
  }

  async function run(message: ToProxy): Promise<void> {
    switch (message.is) {
      case 'start': return start(message).catch((error: unknown) => { log(error); deps.onDeaf?.() })
      case 'configure':
        ways.set(message.serving)
        grants.forgetRefusals()
        return
      case 'grant': return openGrant(message.grant, grants, front, post)
      case 'revoke': closeGrant(message.grantId, grants, front); return
      case 'admission': decided(message.callNumber, message.admission); return
      case 'vendor-word': parent.take(message.jobId, message.word); return
      case 'stop': return stop()
    }
  }

  return {
    admit: decided,
    take: (message) => {
      const parsed = toProxySchema.safeParse(message)
      if (parsed.success) run(parsed.data).catch(log)
      else log(new Error('a message of the app was not understood'))
    },
  }
}

function closeGrant(grantId: string, grants: GrantTable, front: HttpFront): void {
  grants.revoke(grantId)
  front.closeSocket(grantId)
}

function movedNote(preferredPort: number, port: number): string | null {
  return preferredPort === 0 || port === preferredPort ? null : `Port ${preferredPort} is taken by another program; the model proxy uses ${port}.`
}

/** The serving paths that are turned on now. A vendor's server whose path is turned off is ended. */
class Ways {
  readonly #warmServer: WarmServer
  readonly #all: Doctrine['fallbacks']
  #rules = directOnly
  /** What the rules allow. */
  doctrine: Doctrine = { directEnabled: directOnly.directEnabled, fallbacks: [], vendorId: '' }

  constructor(host: VendorHost, time: Time, limits: FallbackLimits) {
    const label = (): string => this.#rules.vendorLabel
    this.#warmServer = new WarmServer(host, time, limits)
    this.#all = [createWarmFallback(this.#warmServer, time, label, limits), createExecFallback(host, time, label, limits.execMs)]
  }

  /** Takes what the owner allows from now on. A server that is turned off, or of another program, is ended with its calls. */
  set(rules: ServingRules): void {
    const same = rules.warmEnabled && rules.vendorId === this.#rules.vendorId
    this.#rules = rules
    const { directEnabled, warmEnabled, execEnabled, vendorId } = rules
    this.doctrine = { directEnabled, vendorId, fallbacks: this.#all.filter(({ path }) => (path === 'warm' ? warmEnabled : execEnabled)) }
    if (!same) this.#warmServer.stop()
  }

  stop(): void {
    this.#warmServer.stop()
  }
}

async function openGrant(grant: GatewayGrant, grants: GrantTable, front: HttpFront, post: (message: FromProxy) => void): Promise<void> {
  try {
    if (grant.socketPath !== null) await front.listenSocket(grant.grantId, grant.socketPath)
    grants.put(grant)
    post({ is: 'granted', grantId: grant.grantId, failure: null })
  } catch (error) {
    const words = error instanceof Error ? error.message : 'unknown'
    post({ is: 'granted', grantId: grant.grantId, failure: failure('proxy-failed', `The model proxy could not listen for this task: ${words}`, 'Check that the app’s data folder is writable, then try again.') })
  }
}
