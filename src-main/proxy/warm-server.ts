import { Pool, type Dispatcher } from 'undici'
import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../src-preload/contract/result.ts'
import type { VendorAddress } from '../core/gateway/vendor.ts'
import { proxyLimits } from './proxy-limits.ts'
import type { Time } from './time.ts'
import type { VendorHost, VendorJob } from './vendor-host.ts'

/** A serving program: how to reach it, and when it goes. */
export interface WarmAccess { readonly origin: string; readonly dispatcher: Dispatcher; readonly gone: AbortSignal }

interface Running { readonly access: WarmAccess; readonly job: VendorJob }

export interface WarmLimits { readonly warmReadyMs: number; readonly warmPollMs: number; readonly warmIdleMs: number; readonly warmBackoffMs: number; readonly warmBackoffMsMax: number }

/**
 * Supervises the vendor's server: started at its first use, one at a time, kept while it is used, started again when it has gone. After a
 * start that failed the next one waits, longer each time: until then calls are told at once, so that another path can serve them.
 */
export class WarmServer {
  readonly #host: VendorHost
  readonly #time: Time
  readonly #limits: WarmLimits
  #running: Running | null = null
  #starting: Promise<Result<WarmAccess, Failure>> | null = null
  #notBefore = 0
  #backoffMs: number
  #lastFailure: Failure | null = null
  #uses = 0
  #idle: (() => void) | null = null
  #job: VendorJob | null = null

  constructor(host: VendorHost, time: Time, limits: WarmLimits = proxyLimits) {
    this.#host = host
    this.#time = time
    this.#limits = limits
    this.#backoffMs = limits.warmBackoffMs
  }

  /** Runs `use` with the server, starting it where it is not up. */
  async use<T>(use: (access: WarmAccess) => Promise<T>): Promise<Result<T, Failure>> {
    this.#uses++
    this.#idle?.()
    try {
      const access = await this.#access()
      return access.ok ? ok(await use(access.value)) : access
    } finally {
      if (--this.#uses === 0) this.#idle = this.#time.after(this.#limits.warmIdleMs, () => { if (this.#uses === 0) this.#end() })
    }
  }

  /** Ends the server; a later use starts it anew, at once. */
  stop(): void {
    this.#end()
    this.#notBefore = 0
    this.#backoffMs = this.#limits.warmBackoffMs
  }

  #end(): void {
    this.#idle?.()
    this.#job?.stop()
    this.#running = null
  }

  #access(): Promise<Result<WarmAccess, Failure>> {
    if (this.#running !== null) return Promise.resolve(ok(this.#running.access))
    if (this.#starting !== null) return this.#starting
    if (this.#time.now() < this.#notBefore && this.#lastFailure !== null) return Promise.resolve(err(this.#lastFailure))
    this.#starting = this.#start().then((started) => {
      this.#starting = null
      if (started.ok) { this.#backoffMs = this.#limits.warmBackoffMs; return started }
      this.#lastFailure = started.error
      this.#notBefore = this.#time.now() + this.#backoffMs
      this.#backoffMs = Math.min(this.#limits.warmBackoffMsMax, this.#backoffMs * 2)
      return started
    })
    return this.#starting
  }

  #start(): Promise<Result<WarmAccess, Failure>> {
    return new Promise((resolve) => {
      const gone = new AbortController()
      let cancelReady: (() => void) | null = null
      const settle = (result: Result<WarmAccess, Failure>): void => {
        cancelReady?.()
        if (!result.ok) job.stop()
        resolve(result)
      }
      const job = this.#host.start({ is: 'serve' }, (word) => {
        if (word.is === 'ended') {
          gone.abort()
          if (this.#job === job) { this.#job = null; this.#running = null }
          const said = lastLine(word.text)
          settle(err(word.failure ?? unavailable(`ended by itself (exit code ${word.exitCode ?? 'unknown'})${said === '' ? '' : `, saying: ${said}`}`)))
          return
        }
        const access = accessTo(word.address, gone.signal)
        void untilAnswers(access, this.#time, this.#limits.warmPollMs).then((answers) => {
          if (!answers || gone.signal.aborted) return
          this.#running = { access, job }
          settle(ok(access))
        })
      })
      this.#job = job
      cancelReady = this.#time.after(this.#limits.warmReadyMs, () => settle(err(unavailable(`did not listen within ${this.#limits.warmReadyMs / 1_000} s`))))
    })
  }
}

function unavailable(what: string): Failure {
  return failure('unavailable', `The vendor's server ${what}.`, 'Check its program and arguments in Settings → Fallbacks.')
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(-300) ?? ''
}

function accessTo(address: VendorAddress, gone: AbortSignal): WarmAccess {
  const origin = address.is === 'socket' ? 'http://localhost' : `http://127.0.0.1:${address.port}`
  const dispatcher = new Pool(origin, { connections: proxyLimits.warmConnectionsMax, headersTimeout: 0, bodyTimeout: 0, ...(address.is === 'socket' ? { socketPath: address.socketPath } : {}) })
  gone.addEventListener('abort', () => { dispatcher.destroy().catch(() => undefined) }, { once: true })
  return { origin, dispatcher, gone }
}

/** Whether it answers HTTP, whatever it says; false when it went before that. */
async function untilAnswers(access: WarmAccess, time: Time, pollMs: number): Promise<boolean> {
  while (!access.gone.aborted) {
    try {
      const reply = await access.dispatcher.request({ origin: access.origin, method: 'GET', path: '/v1/models', signal: access.gone })
      await reply.body.dump()
      return true
    } catch (error) {
      if (!(error instanceof Error)) throw error
      // Not listening yet.
      await new Promise<void>((resolve) => { time.after(pollMs, resolve) })
    }
  }
  return false
}
