import { failure } from '../../src-preload/contract/failure.ts'
import { toProxySchema, type FromProxy, type GatewayGrant, type ToProxy } from '../core/gateway/messages.ts'
import { AdmissionDesk } from './admission.ts'
import type { Fallback } from './call.ts'
import { createDirectPath } from './direct.ts'
import { GrantTable } from './grants.ts'
import { HttpFront } from './http-front.ts'
import { proxyLimits } from './proxy-limits.ts'
import { serveModelCall } from './serving.ts'
import type { IdleLimits } from './idle-watch.ts'
import type { Time } from './time.ts'

export interface ProxyDeps {
  readonly post: (message: FromProxy) => void
  readonly time: Time
  readonly onStopped: () => void
  readonly fallbacks?: readonly Fallback[]
  readonly idle?: IdleLimits
}

/** The whole proxy behind its messages: hand each message of the app to `take`. One that is not understood is logged and dropped. */
export interface Proxy { take(message: unknown): void }

/** Builds a proxy that listens on nothing until it gets `start`. */
export function createProxy(deps: ProxyDeps): Proxy {
  const { post, time } = deps
  const grants = new GrantTable()
  const admissions = new AdmissionDesk((ask) => post({ is: 'admission-ask', ask }), time)
    let callNumber = 0
  let directEnabled = true
  const log = (error: unknown): void => post({ is: 'log', level: 'error', message: error instanceof Error ? error.message : 'unknown fault' })
  const direct = createDirectPath(time, log, deps.idle ?? proxyLimits)
  const front = new HttpFront({
    grants,
    onError: log,
    serve: (grant, api, request, response) =>
      serveModelCall(grant, api, request, response, { direct, fallbacks: deps.fallbacks ?? [], directEnabled, admissions, nextCallNumber: () => callNumber++, time, post }),
  })
  const handlers = {
    start: async (message: Extract<ToProxy, { is: 'start' }>) => {
      callNumber = message.firstCallNumber
      directEnabled = message.directEnabled
      const port = await front.listenTcp(message.preferredPort)
      const moved = message.preferredPort !== 0 && port !== message.preferredPort
      post({ is: 'ready', port, note: moved ? `Port ${message.preferredPort} is taken by another program; the model proxy uses ${port}.` : null })
    },
    grant: (message: { readonly grant: GatewayGrant }) => openGrant(message.grant, grants, front, post),
    revoke: (message: { readonly grantId: string }) => {
      grants.revoke(message.grantId)
      front.closeSocket(message.grantId)
    },
    admission: (message: Extract<ToProxy, { is: 'admission' }>) => admissions.answer(message.callNumber, message.admission),
    stop: async () => {
      for (const grant of grants.all) grants.revoke(grant.grantId)
      front.close()
      await direct.close()
      deps.onStopped()
    },
  }
  return {
    take: (message) => {
      const parsed = toProxySchema.safeParse(message)
      if (!parsed.success) { post({ is: 'log', level: 'error', message: 'a message of the app was not understood' }); return }
      run(parsed.data).catch(log)
    },
  }

  async function run(message: ToProxy): Promise<void> {
    switch (message.is) {
      case 'start': return handlers.start(message)
      case 'grant': return handlers.grant(message)
      case 'revoke': handlers.revoke(message); return
      case 'admission': handlers.admission(message); return
      case 'stop': return handlers.stop()
    }
  }
}

async function openGrant(grant: GatewayGrant, grants: GrantTable, front: HttpFront, post: (message: FromProxy) => void): Promise<void> {
  try {
    await front.listenSocket(grant.grantId, grant.socketPath)
    grants.put(grant)
    post({ is: 'granted', grantId: grant.grantId, failure: null })
  } catch (error) {
    const words = error instanceof Error ? error.message : 'unknown'
    post({ is: 'granted', grantId: grant.grantId, failure: failure('proxy-failed', `The model proxy could not listen for this task: ${words}`, 'Check that the app’s data folder is writable, then try again.') })
  }
}
