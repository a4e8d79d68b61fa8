import { failure, type Failure } from '../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../src-preload/contract/result.ts'
import { startDemoProvider } from './adapters/proxy/demo-process.ts'
import type { Fork } from './adapters/proxy/child-port.ts'
import type { SupervisedGateway } from './adapters/proxy/gateway.ts'
import type { Log } from './adapters/system/log.ts'
import type { ModelGateway, ModelTarget, Timers } from './engine/ports.ts'

export interface ModelProcessesDeps {
  readonly gateway: SupervisedGateway
  readonly forkDemo: Fork
  readonly timers: Timers
  readonly log: Log
  /** For so long the demo model holds a tool's arguments half-way; 0 for none. */
  readonly holdMs: number
}

interface RunningDemo { readonly baseUrl: string; readonly stop: () => Promise<void> }

const quitting = failure('cancelled', 'The app is quitting.', 'Start it again.')
const demoAgainAfterMs = 1_000

/**
 * The model proxy and the demo model, started when first needed: an app that only shows its room runs neither. Whoever opens a grant gets
 * both as that grant needs them; `warmUp` starts them ahead of that. Once started they are kept alive. Nothing starts after `startNoMore`.
 */
export class ModelProcesses {
  /** The gateway that starts what an opened grant needs, and knows where the demo model listens: its port is another one at each start. */
  readonly onDemand: ModelGateway
  readonly #deps: ModelProcessesDeps
  #proxy: Promise<Result<null, Failure>> | null = null
  #demo: Promise<Result<RunningDemo, Failure>> | null = null
  /** Where the demo model listened last: a running Bot B's calls go there for as long as it lives. */
  #demoPort = 0
  #stopping = false

  constructor(deps: ModelProcessesDeps) {
    this.#deps = deps
    const { gateway } = deps
    this.onDemand = {
      close: (taskId) => gateway.close(taskId),
      onAdmission: (decide) => { gateway.onAdmission(decide) }, onCallStarted: (listener) => { gateway.onCallStarted(listener) }, onCallProgress: (listener) => { gateway.onCallProgress(listener) }, onCallEnded: (listener) => { gateway.onCallEnded(listener) }, onPreview: (listener) => { gateway.onPreview(listener) },
      open: async (grant) => {
        const [proxy, target] = await Promise.all([this.#startProxy(), this.#located(grant.target)])
        if (!proxy.ok) return proxy
        return target.ok ? gateway.open({ ...grant, target: target.value }) : target
      },
    }
  }

  /** Starts the proxy, and the demo model if it is going to be asked, so that the first model call finds them up. */
  warmUp({ demo }: { readonly demo: boolean }): void {
    void this.#startProxy()
    if (demo) void this.#startDemo()
  }

  /** Nothing starts from now on; what runs goes on. */
  startNoMore(): void {
    this.#stopping = true
  }

  /** Ends both and resolves when they have gone. */
  async stop(): Promise<void> {
    this.startNoMore()
    await Promise.allSettled([this.#deps.gateway.stop(), this.#demo?.then((demo) => (demo.ok ? demo.value.stop() : undefined))])
  }

  /** A start that failed is tried again by whoever asks next. */
  #startProxy(): Promise<Result<null, Failure>> {
    return this.#proxy ??= this.#proxyStarted()
  }

  async #proxyStarted(): Promise<Result<null, Failure>> {
    if (this.#stopping) return err(quitting)
    const started = await this.#deps.gateway.start()
    if (started.ok) return ok(null)
    this.#proxy = null
    this.#deps.log.error('the proxy did not start', { code: started.error.code })
    return started
  }

  async #located(target: ModelTarget): Promise<Result<ModelTarget, Failure>> {
    if (!target.demo) return ok(target)
    const demo = await this.#startDemo()
    return demo.ok ? ok({ ...target, baseUrl: demo.value.baseUrl }) : demo
  }

  #startDemo(): Promise<Result<RunningDemo, Failure>> {
    return this.#demo ??= this.#demoStarted()
  }

  async #demoStarted(): Promise<Result<RunningDemo, Failure>> {
    if (this.#stopping) return err(quitting)
    const { forkDemo, holdMs, timers, log } = this.#deps
    const started = await startDemoProvider(forkDemo, { holdMs, preferredPort: this.#demoPort, timers })
    if (!started.ok) {
      this.#demo = null
      log.error('the demo provider did not start', { code: started.error.code })
      return started
    }
    this.#demoPort = started.value.port
    void started.value.exited.then(() => {
      this.#demo = null
      if (!this.#stopping) timers.after(demoAgainAfterMs, new AbortController().signal, () => { void this.#startDemo() })
    })
    return ok({ baseUrl: `http://127.0.0.1:${String(started.value.port)}/v1`, stop: () => started.value.stop() })
  }
}
