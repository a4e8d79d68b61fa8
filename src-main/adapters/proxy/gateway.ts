import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { Bot, TaskId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { FromProxy, GatewayGrant } from '../../core/gateway/messages.ts'
import { directOnly, type ServingRules, type VendorOrder, type VendorWord } from '../../core/gateway/vendor.ts'
import type { Admission, AdmissionAsk, CallProgress, Clock, GatewayCallEnd, Ids, ModelGateway, ModelTarget, Timers, ToolPreview } from '../../engine/ports.ts'
import type { Fork, Log } from './child-port.ts'
import { OpenWork } from './open-work.ts'
import { ProxyProcess, type ProxyState } from './proxy-process.ts'
import type { VendorJobs } from './vendor-jobs.ts'

export interface ModelGatewayDeps {
  readonly fork: Fork
  /** A private folder (0700) for the Unix sockets; short, since a socket's path has less than 100 bytes. */
  readonly runRoot: string
  /** The key of a provider, or null. Read when a grant is opened and after each restart of the proxy; kept nowhere here. */
  readonly credentials: (providerId: string) => Promise<string | null>
  readonly clock: Clock
  readonly timers: Timers
  readonly ids: Ids
  readonly log: Log
  /** Default 18747; 0 takes any. */
  readonly preferredPort?: number
  /** What the owner allows now; asked at each start and `refresh`. Default: direct only. */
  readonly serving?: () => ServingRules
  /** Runs the vendor's program for the fallbacks. */
  readonly vendorJobs?: Pick<VendorJobs, 'ask' | 'stop' | 'stopAll'>
}

/** The gateway with its process: when it runs, and what the window shows of it. */
export interface SupervisedGateway extends ModelGateway {
  /** `port`: of the loopback door. `note`: what the owner should know of it. */
  start(): Promise<Result<{ readonly port: number | null; readonly note: string | null }, Failure>>
  /** Ends it; resolves when it has gone. */
  stop(): Promise<void>
  state(): { readonly state: ProxyState; readonly port: number | null; readonly note: string | null }
  onState(listener: () => void): void
  /** Settings or keys have changed: the rules and each grant's key are handed to the proxy anew. Calls in flight go on as they began. */
  refresh(): Promise<void>
}

interface OpenGrant { readonly taskId: TaskId; readonly bot: Bot; readonly target: ModelTarget; readonly wire: Omit<GatewayGrant, 'credential' | 'socketPath'> & { readonly socketPath: string } }

const upWithinMs = 15_000
const grantWithinMs = 5_000

/** Builds the gateway: a supervised proxy process, its grants, and the app's word on each call. */
export function createModelGateway(deps: ModelGatewayDeps): SupervisedGateway {
  return new Gateway(deps)
}

class Gateway implements SupervisedGateway {
  readonly #deps: ModelGatewayDeps
  readonly #process: ProxyProcess
  readonly #work: OpenWork
  readonly #grants = new Map<string, OpenGrant>()
  readonly #granting = new Map<string, (failed: Failure | null) => void>()
  readonly #started: ((call: AdmissionAsk) => void)[] = []
  readonly #progressed: ((progress: CallProgress) => void)[] = []
  readonly #ended: ((end: GatewayCallEnd) => void)[] = []
  readonly #previewed: ((preview: ToolPreview) => void)[] = []
  readonly #stated: (() => void)[] = []
  #decide: ((ask: AdmissionAsk) => Promise<Admission>) | null = null
  #callNumber = 0

  constructor(deps: ModelGatewayDeps) {
    this.#deps = deps
    this.#work = new OpenWork(deps.clock)
    this.#process = new ProxyProcess({
      fork: deps.fork, clock: deps.clock, timers: deps.timers, log: deps.log,
      startMessage: () => {
        // Ascending across restarts of the proxy and of the app: a call number names one call for ever.
        this.#callNumber = Math.max(this.#callNumber + 1, deps.clock.now())
        return { is: 'start', preferredPort: deps.preferredPort ?? limits.proxyDefaultPort, firstCallNumber: this.#callNumber, serving: this.#serving() }
      },
      onMessage: (message) => this.#take(message),
      // What was changed while it started is told now.
      onUp: () => { this.refresh().catch((error: unknown) => { deps.log('error', `the model proxy was not told of a change: ${error instanceof Error ? error.message : 'unknown'}`) }) },
      onDown: () => this.#settleLost(),
      onState: () => { for (const listener of this.#stated) listener() },
    })
  }

  start(): Promise<Result<{ readonly port: number | null; readonly note: string | null }, Failure>> {
    return this.#process.start()
  }

  state(): { readonly state: ProxyState; readonly port: number | null; readonly note: string | null } {
    return { state: this.#process.state, ...this.#process.listening }
  }

  /** The same bot of the same task with the same target gets the token that it has; another target ends the old one. */
  async open(asked: { readonly taskId: TaskId; readonly bot: Bot; readonly target: ModelTarget }): Promise<Result<{ readonly token: string; readonly socketPath: string }, Failure>> {
    const known = [...this.#grants.values()].find((grant) => grant.taskId === asked.taskId && grant.bot === asked.bot)
    if (known !== undefined && JSON.stringify(known.target) !== JSON.stringify(asked.target)) await this.#revoke(known)
    const grant = known !== undefined && this.#grants.has(known.wire.grantId) ? this.#forProgramNow(known) : this.#mint(asked)
    await mkdir(dirname(grant.wire.socketPath), { recursive: true, mode: 0o700 })
    if (!(await this.#process.whenUp(upWithinMs))) return err(failure('proxy-failed', 'The model proxy is not running.', 'Wait a moment and try again; if it stays, start the app again.'))
    this.#grants.set(grant.wire.grantId, grant)
    const failed = await this.#send(grant)
    if (failed === null) return ok({ token: grant.wire.token, socketPath: grant.wire.socketPath })
    this.#grants.delete(grant.wire.grantId)
    return err(failed)
  }

  async close(taskId: TaskId): Promise<void> {
    for (const grant of [...this.#grants.values()]) if (grant.taskId === taskId) await this.#revoke(grant)
  }

  onAdmission(decide: (ask: AdmissionAsk) => Promise<Admission>): void {
    this.#decide = decide
  }

  onCallStarted(listener: (call: AdmissionAsk) => void): void {
    this.#started.push(listener)
  }

  onCallProgress(listener: (progress: CallProgress) => void): void {
    this.#progressed.push(listener)
  }

  onCallEnded(listener: (end: GatewayCallEnd) => void): void {
    this.#ended.push(listener)
  }

  onPreview(listener: (preview: ToolPreview) => void): void {
    this.#previewed.push(listener)
  }

  onState(listener: () => void): void {
    this.#stated.push(listener)
  }

  async refresh(): Promise<void> {
    this.#process.post({ is: 'configure', serving: this.#serving() })
    await Promise.all([...this.#grants.values()].map((grant) => this.#send(grant)))
  }

  async stop(): Promise<void> {
    await this.#process.stop()
    await this.#deps.vendorJobs?.stopAll()
    for (const grant of this.#grants.values()) await rm(dirname(grant.wire.socketPath), { recursive: true, force: true })
    this.#grants.clear()
  }

  #serving(): ServingRules {
    return this.#deps.serving?.() ?? directOnly
  }

  #mint({ taskId, bot, target }: { readonly taskId: TaskId; readonly bot: Bot; readonly target: ModelTarget }): OpenGrant {
    const grantId = this.#deps.ids.next('gw')
    // A folder of its own: whoever gets to see this socket sees no other.
    const socketPath = join(this.#deps.runRoot, randomBytes(6).toString('hex'), 'proxy.sock')
    const { baseUrl, api, providerLabel, needsKey, ref, exchange, fallback } = target
    const wire = { grantId, taskId, bot, token: randomBytes(32).toString('base64url'), socketPath, target: { baseUrl, api, modelId: ref.modelId, providerLabel, needsKey, ...(fallback === undefined ? {} : { fallback: this.#serving().vendorId }), ...(exchange === undefined ? {} : { exchange }) } }
    return { taskId, bot, target, wire }
  }

  /** A grant is opened after it was looked at whether its fallback is what was approved: it is for the program that is set now, and for no later one. */
  #forProgramNow(known: OpenGrant): OpenGrant {
    if (known.target.fallback === undefined) return known
    return { ...known, wire: { ...known.wire, target: { ...known.wire.target, fallback: this.#serving().vendorId } } }
  }

  /** Hands a grant to the proxy and waits for its receipt. */
  async #send(grant: OpenGrant): Promise<Failure | null> {
    const credential = await this.#deps.credentials(grant.target.ref.providerId)
    const { grantId } = grant.wire
    if (this.#grants.get(grantId) !== grant) return failure('cancelled', 'The task was closed meanwhile.', 'Nothing to do.')
    return new Promise((resolve) => {
      const bound = new AbortController()
      const settle = (failed: Failure | null): void => {
        if (this.#granting.get(grantId) === settle) this.#granting.delete(grantId)
        bound.abort()
        resolve(failed)
      }
      const silent = failure('proxy-failed', 'The model proxy does not answer.', 'Wait a moment and try again; if it stays, start the app again.')
      this.#granting.get(grantId)?.(null)
      this.#granting.set(grantId, settle)
      this.#deps.timers.after(grantWithinMs, bound.signal, () => settle(silent))
      if (!this.#process.post({ is: 'grant', grant: { ...grant.wire, credential } })) settle(silent)
    })
  }

  async #revoke(grant: OpenGrant): Promise<void> {
    this.#grants.delete(grant.wire.grantId)
    this.#process.post({ is: 'revoke', grantId: grant.wire.grantId })
    await rm(dirname(grant.wire.socketPath), { recursive: true, force: true })
  }

  #take(message: FromProxy): void {
    switch (message.is) {
      case 'granted': this.#granting.get(message.grantId)?.(message.failure); return
      case 'admission-ask': void this.#admit(message.ask); return
      case 'call-progress': for (const listener of this.#progressed) listener(message.progress); return
      case 'call-ended': this.#report(this.#work.ended(message.end)); return
      case 'preview':
        this.#work.previewed(message.preview)
        for (const listener of this.#previewed) listener(message.preview)
        return
      case 'log': this.#deps.log(message.level, `model proxy: ${message.message}`); return
      case 'vendor-ask': this.#runVendor(message.jobId, message.order, message.vendorId); return
      case 'vendor-stop': this.#deps.vendorJobs?.stop(message.jobId); return
      case 'ready': return
    }
  }

  #runVendor(jobId: number, order: VendorOrder, vendorId: string): void {
    const say = (word: VendorWord): void => { this.#process.post({ is: 'vendor-word', jobId, word }) }
    if (this.#deps.vendorJobs === undefined) say({ is: 'ended', exitCode: null, text: '', failure: failure('unavailable', 'No vendor’s program can be run here.', 'Use the direct path.') })
    else this.#deps.vendorJobs.ask(jobId, order, vendorId, say)
  }

  async #admit(ask: AdmissionAsk): Promise<void> {
    this.#callNumber = Math.max(this.#callNumber, ask.callNumber)
    this.#work.asked(ask)
    const admission = await this.#decision(ask)
    const lost = this.#work.decided(ask.callNumber, admission.admit)
    if (admission.admit) for (const listener of this.#started) listener(ask)
    if (lost === null) this.#process.post({ is: 'admission', callNumber: ask.callNumber, admission })
    else this.#report(lost)
  }

  async #decision(ask: AdmissionAsk): Promise<Admission> {
    if (this.#decide === null) return { admit: false, code: 'unavailable', message: 'The app is not ready to admit model calls.' }
    try {
      return await this.#decide(ask)
    } catch (error) {
      this.#deps.log('error', `the admission of a model call failed: ${error instanceof Error ? error.message : 'unknown'}`)
      return { admit: false, code: 'internal', message: 'The app could not decide whether this call may leave.' }
    }
  }

  #settleLost(): void {
    // Whatever ran for the process that has gone serves nobody any more.
    this.#deps.vendorJobs?.stopAll().catch(() => undefined)
    const { ends, previews } = this.#work.lost()
    for (const preview of previews) for (const listener of this.#previewed) listener(preview)
    for (const end of ends) this.#report(end)
    for (const settle of [...this.#granting.values()]) settle(failure('proxy-failed', 'The model proxy ended.', 'It is started again by itself; try again.'))
  }

  #report(end: GatewayCallEnd | null): void {
    if (end !== null) for (const listener of this.#ended) listener(end)
  }
}
