import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { fromProxySchema, type FromProxy, type ToProxy } from '../../core/gateway/messages.ts'
import type { Clock, Timers } from '../../engine/ports.ts'
import type { ChildPort, Fork, Log } from './child-port.ts'

export type ProxyState = 'stopped' | 'starting' | 'ready' | 'restarting' | 'failed'
export interface Listening { readonly port: number | null; readonly note: string | null }

export interface ProxyProcessDeps {
  readonly fork: Fork
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  /** The first message to each new child. */
  readonly startMessage: () => ToProxy
  readonly onMessage: (message: FromProxy) => void
  /** A child listens: after the first start and after each restart. */
  readonly onUp: () => void
  /** A child has gone; whatever it had in hand is lost. */
  readonly onDown: () => void
  readonly onState: () => void
}

const readyWithinMs = 10_000
const stopWithinMs = 3_000
const firstBackoffMs = 250
const backoffMsMax = 10_000
const firstStartsMax = 3
/** A child that lived this long starts the backoff anew. */
const soundAfterMs = 60_000

/** Keeps one proxy process alive: starts it, starts it again with growing pauses when it dies, ends it. */
export class ProxyProcess {
  readonly #deps: ProxyProcessDeps
  #child: ChildPort | null = null
  #state: ProxyState = 'stopped'
  #listening: Listening = { port: null, note: null }
  #backoffMs = firstBackoffMs
  #lifetime = new AbortController()
  readonly #waiting = new Set<() => void>()

  constructor(deps: ProxyProcessDeps) {
    this.#deps = deps
  }

  get state(): ProxyState {
    return this.#state
  }

  get listening(): Listening {
    return this.#listening
  }

  /** Starts the process; tries three times, each for at most 10 s. */
  async start(): Promise<Result<Listening, Failure>> {
    if (this.#state === 'ready') return ok(this.#listening)
    this.#lifetime = new AbortController()
    this.#turn('starting')
    for (let attempt = 1; attempt <= firstStartsMax; attempt++) {
      if (await this.#startOnce()) return ok(this.#listening)
      if (attempt < firstStartsMax && this.#state === 'starting') await this.#pause()
      if (this.#state !== 'starting') return err(failure('proxy-failed', 'The model proxy was stopped.', 'Start the app again.'))
    }
    this.#turn('failed')
    return err(failure('proxy-failed', 'The model proxy did not start.', 'Start the app again. If it stays, see the log folder.'))
  }

  /** Sends a message to the child that runs now; false when there is none. */
  post(message: ToProxy): boolean {
    if (this.#child === null || this.#state !== 'ready') return false
    this.#child.post(message)
    return true
  }

  /** Resolves true when a child listens; false when that takes longer than `withinMs` or the process was stopped. */
  whenUp(withinMs: number): Promise<boolean> {
    if (this.#state === 'ready') return Promise.resolve(true)
    if (this.#state === 'stopped' || this.#state === 'failed') return Promise.resolve(false)
    return new Promise((resolve) => {
      const bound = new AbortController()
      const settle = (): void => {
        this.#waiting.delete(settle)
        bound.abort()
        resolve(this.#state === 'ready')
      }
      this.#waiting.add(settle)
      this.#deps.timers.after(withinMs, bound.signal, settle)
    })
  }

  /** Ends the process and waits until it is gone; kills it after 3 s. */
  async stop(): Promise<void> {
    const child = this.#child
    this.#turn('stopped')
    this.#lifetime.abort()
    this.#settleWaiting()
    if (child === null) return
    child.post({ is: 'stop' } satisfies ToProxy)
    const bound = new AbortController()
    this.#deps.timers.after(stopWithinMs, bound.signal, () => child.kill())
    await child.exited
    bound.abort()
  }

  /** One child from fork to ready. False: it has gone, or was ended, without having listened. */
  #startOnce(): Promise<boolean> {
    return new Promise((resolve) => {
      const startedAt = this.#deps.clock.now()
      const bound = new AbortController()
      let up = false
      const child = this.#deps.fork((message) => {
        const parsed = fromProxySchema.safeParse(message)
        if (!parsed.success) { this.#deps.log('error', 'a message of the model proxy was not understood'); return }
        if (this.#child !== child) return
        if (parsed.data.is !== 'ready') { this.#deps.onMessage(parsed.data); return }
        // Stopped while it started: it is on its way out.
        if (this.#state === 'stopped') return
        up = true
        bound.abort()
        this.#listening = { port: parsed.data.port, note: parsed.data.note }
        this.#turn('ready')
        this.#deps.onUp()
        this.#settleWaiting()
        resolve(true)
      })
      this.#child = child
      this.#deps.timers.after(readyWithinMs, bound.signal, () => child.kill())
      void child.exited.then(({ code }) => {
        bound.abort()
        if (this.#child !== child) return
        this.#child = null
        if (up) this.#onDeath(code, this.#deps.clock.now() - startedAt)
        this.#deps.onDown()
        resolve(false)
      })
      child.post(this.#deps.startMessage())
    })
  }

  #onDeath(code: number | null, livedMs: number): void {
    if (this.#state === 'stopped') return
    this.#deps.log('error', `the model proxy ended by itself (code ${String(code)}) and is started again`)
    if (livedMs >= soundAfterMs) this.#backoffMs = firstBackoffMs
    this.#turn('restarting')
    void this.#restart()
  }

  async #restart(): Promise<void> {
    for (;;) {
      await this.#pause()
      if (this.#state !== 'restarting' || (await this.#startOnce())) return
    }
  }

  #pause(): Promise<void> {
    const { signal } = this.#lifetime
    const ms = this.#backoffMs
    this.#backoffMs = Math.min(backoffMsMax, this.#backoffMs * 2)
    return new Promise((resolve) => {
      if (signal.aborted) { resolve(); return }
      signal.addEventListener('abort', () => resolve(), { once: true })
      this.#deps.timers.after(ms, signal, resolve)
    })
  }

  #turn(state: ProxyState): void {
    this.#state = state
    this.#deps.onState()
  }

  #settleWaiting(): void {
    for (const settle of [...this.#waiting]) settle()
  }
}
