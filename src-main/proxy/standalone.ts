import { failure } from '../../src-preload/contract/failure.ts'
import { taskIdSchema } from '../../src-preload/contract/ids.ts'
import { digestOfText } from '../core/digest.ts'
import type { FromProxy, GatewayGrant } from '../core/gateway/messages.ts'
import { vendorIdOf, type ServingRules, type VendorWord } from '../core/gateway/vendor.ts'
import { createProxy, type Proxy } from './proxy.ts'
import { proxyLimits } from './proxy-limits.ts'
import { cleanWords } from './redaction.ts'
import { ClientBudget } from './standalone-budget.ts'
import { loadStandaloneConfig, type StandaloneClient, type StandaloneConfig } from './standalone-config.ts'
import type { Time } from './time.ts'
import { plainVendorHost } from './vendor-children.ts'
import type { VendorHost } from './vendor-host.ts'

export interface StandaloneDeps {
  readonly env: NodeJS.ProcessEnv
  readonly time: Time
  /** Lines for whoever reads the program's output: each call as JSON, and that it listens. */
  readonly print: (lines: string) => void
  /** One line for whoever runs it: warnings and faults. */
  readonly warn: (line: string) => void
}

export interface Standalone {
  readonly port: number
  /** Reads the configuration again: keys, tokens, caps and rules change without a restart. What is wrong is warned of, and nothing changes. */
  reload(): Promise<void>
  stop(): Promise<void>
  /** Prints the calls that have ended and wait to be printed with others. */
  tell(): void
}

const usage = 'Usage: countersign-proxy --config FILE'

/** What the arguments ask for: a configuration file, or words and an exit code. Keys have no place in arguments. */
export function readArguments(args: readonly string[]): { readonly config: string } | { readonly words: string; readonly exitCode: 0 | 2 } {
  if (args.length === 1 && args[0] === '--help') return { words: `${usage}\n\nThe model proxy of Countersign, alone. The file is explained in docs/proxy.md.`, exitCode: 0 }
  const [name, file] = args
  return args.length === 2 && name === '--config' && file !== undefined && file !== '' ? { config: file } : { words: usage, exitCode: 2 }
}

/** Starts the proxy on a configuration file; null when that is not possible, and why was warned of. */
export async function startStandalone(path: string, deps: StandaloneDeps): Promise<Standalone | null> {
  const config = await loadStandaloneConfig(path, deps.env)
  if (!config.ok) { deps.warn(config.error); return null }
  const running = new Running(path, config.value, deps)
  return running.start()
}

type CallEnd = Extract<FromProxy, { is: 'call-ended' }>['end']

class Running {
  readonly #path: string
  readonly #deps: StandaloneDeps
  readonly #proxy: Proxy
  readonly #budgets = new Map<string, ClientBudget>()
  #config: StandaloneConfig
  #grantIds = new Set<string>()
  readonly #waiting = new Map<string, () => void>()
  /** One at a time, in their order. */
  #reloading: Promise<void> = Promise.resolve()
  #ready: (port: number | null) => void = () => undefined
  #stopped: () => void = () => undefined
  /** Calls that have ended. Their lines are made and printed together: what one costs would keep the next call waiting. */
  #untold: { readonly end: CallEnd; readonly cost: number | null }[] = []

  constructor(path: string, config: StandaloneConfig, deps: StandaloneDeps) {
    this.#path = path
    this.#config = config
    this.#deps = deps
    const vendor: VendorHost = { start: (order, onWord) => (this.#config.vendor === null ? noProgram(onWord) : plainVendorHost(this.#config.vendor, deps.env).start(order, onWord)) }
    this.#proxy = createProxy({ time: deps.time, post: (message) => { this.#take(message) }, onStopped: () => { this.#stopped() }, onDeaf: () => { this.#ready(null) }, vendor })
  }

  /** Null: it does not listen where it should, and why was warned of. */
  async start(): Promise<Standalone | null> {
    const asked = this.#config.port
    const ready = new Promise<number | null>((resolve) => { this.#ready = resolve })
    this.#proxy.take({ is: 'start', preferredPort: asked, firstCallNumber: 1, serving: this.#rules() })
    const port = await ready
    if (port === null) return null
    // The proxy moves to another port, as the app wants it. Here clients know the one of the file, and would talk to whoever has it.
    if (asked !== 0 && port !== asked) {
      await this.#stop()
      this.#deps.warn(`the port ${asked} cannot be used: another program has it, or this user may not. Name another one in the configuration, or 0 for any`)
      return null
    }
    await this.#grantAll()
    this.#warnOfVendor()
    this.#deps.print(JSON.stringify({ event: 'listening', url: `http://127.0.0.1:${port}/v1`, clients: this.#config.clients.map(({ name }) => name) }))
    return { port, reload: () => (this.#reloading = this.#reloading.then(() => this.#reload())), stop: () => this.#stop(), tell: () => { this.#tell() } }
  }

  async #reload(): Promise<void> {
    const config = await loadStandaloneConfig(this.#path, this.#deps.env)
    if (!config.ok) { this.#deps.warn(`not reloaded: ${config.error}`); return }
    if (config.value.port !== this.#config.port) this.#deps.warn('the port is changed by a restart only')
    // With the secrets that they were served with.
    this.#tell()
    this.#config = config.value
    this.#proxy.take({ is: 'configure', serving: this.#rules() })
    await this.#grantAll()
    this.#warnOfVendor()
    this.#deps.print(JSON.stringify({ event: 'reloaded', clients: this.#config.clients.map(({ name }) => name) }))
  }

  async #stop(): Promise<void> {
    const stopped = new Promise<void>((resolve) => { this.#stopped = resolve })
    this.#proxy.take({ is: 'stop' })
    await stopped
    this.#tell()
  }

  #tell(): void {
    if (this.#untold.length > 0) this.#deps.print(this.#untold.splice(0).map((ended) => this.#lineOf(ended)).join('\n'))
  }

  #rules(): ServingRules {
    const { directEnabled, warmEnabled, execEnabled, vendor } = this.#config
    return { directEnabled: directEnabled && this.#deps.env['MUSE_PROXY_DIRECT'] !== '0', warmEnabled, execEnabled, vendorLabel: vendor?.label ?? '', vendorId: vendorIdOf(vendor) }
  }

  #warnOfVendor(): void {
    const { vendor, warmEnabled, execEnabled } = this.#config
    if (vendor !== null && (warmEnabled || execEnabled)) this.#deps.warn(`WARNING: ${vendor.program} is run for text-only calls as a plain program of this user, without a sandbox. In Countersign it runs in one.`)
  }

  /** One grant a client and model; those that are gone are revoked, with their calls. */
  async #grantAll(): Promise<void> {
    const grants = this.#config.clients.flatMap((client) => {
      const budget = this.#budgets.get(client.name)
      if (budget === undefined) this.#budgets.set(client.name, new ClientBudget(client.budget))
      else budget.limit(client.budget)
      return client.models.flatMap((use) => this.#grantOf(client, use))
    })
    const wanted = new Set(grants.map(({ grantId }) => grantId))
    for (const grantId of this.#grantIds) if (!wanted.has(grantId)) this.#proxy.take({ is: 'revoke', grantId })
    this.#grantIds = wanted
    await Promise.all(grants.map((grant) => new Promise<void>((resolve) => {
      this.#waiting.set(grant.grantId, resolve)
      this.#proxy.take({ is: 'grant', grant })
    })))
  }

  #grantOf(client: StandaloneClient, use: StandaloneClient['models'][number]): GatewayGrant[] {
    const found = this.#config.providers.get(use.provider)
    if (found === undefined) return []
    const { provider: { baseUrl, api, label, key, exchange }, credential } = found
    return [{
      grantId: digestOfText(JSON.stringify([client.name, use.provider, use.model])), taskId: taskIdSchema.parse(client.name), bot: 'coder', token: client.token, socketPath: null, credential,
      target: { baseUrl, api, modelId: use.model, providerLabel: label, needsKey: key !== undefined, ...(use.fallback ? { fallback: this.#rules().vendorId } : {}), ...(exchange === undefined ? {} : { exchange }) },
    }]
  }

  #take(message: FromProxy): void {
    switch (message.is) {
      case 'ready':
        this.#ready(message.port)
        return
      case 'granted':
        if (message.failure !== null) this.#deps.warn(message.failure.message)
        this.#waiting.get(message.grantId)?.()
        return
      case 'admission-ask': this.#admit(message.ask); return
      case 'call-ended': this.#told(message.end); return
      case 'log': this.#deps.warn(`${message.level}: ${message.message}`); return
      case 'preview': case 'call-progress': case 'vendor-ask': case 'vendor-stop': return
    }
  }

  #admit(ask: Extract<FromProxy, { is: 'admission-ask' }>['ask']): void {
    const client = this.#config.clients.find(({ name }) => name === ask.taskId)
    const use = client?.models.find(({ model }) => model === ask.model)
    const model = this.#config.providers.get(use?.provider ?? '')?.provider.models.find(({ id }) => id === ask.model)
    const budget = this.#budgets.get(ask.taskId)
    const admission = budget === undefined || model === undefined
      ? { admit: false as const, code: 'client_unknown', message: 'This client is not configured any more.' }
      : budget.admit({ ...ask, outputTokensMax: model.outputTokens ?? 16_000, price: model.price ?? null })
    this.#proxy.admit(ask.callNumber, admission)
  }

  #told(end: CallEnd): void {
    if (this.#untold.length === 0) this.#deps.time.after(proxyLimits.tellMs, () => { this.#tell() })
    this.#untold.push({ end, cost: this.#budgets.get(end.taskId)?.ended(end) ?? null })
  }

  #lineOf({ end: { callNumber, taskId, path, status, modelAnswered, inputTokens, outputTokens, latencyMs, failure: why, directLeft }, cost }: { readonly end: CallEnd; readonly cost: number | null }): string {
    const failed = why === null ? null : { code: why.code, message: cleanWords(why.message, ...this.#secrets()) }
    return JSON.stringify({ event: 'call', call: callNumber, client: taskId, path, status, modelAnswered, inputTokens, outputTokens, costMicroUsd: cost, latencyMs: Math.round(latencyMs), failure: failed, ...(directLeft === true ? { directLeft } : {}) })
  }

  #secrets(): readonly (string | null)[] {
    return [...this.#config.clients.map(({ token }) => token), ...[...this.#config.providers.values()].map(({ credential }) => credential)]
  }
}

function noProgram(onWord: (word: VendorWord) => void): ReturnType<VendorHost['start']> {
  queueMicrotask(() => { onWord({ is: 'ended', exitCode: null, text: '', failure: failure('unavailable', 'No vendor’s program is configured.', 'Name one under fallbacks.') }) })
  return { stop: () => undefined }
}
