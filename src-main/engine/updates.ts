import { failure, type Failure } from '../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../src-preload/contract/result.ts'
import type { Settings } from '../../src-preload/contract/settings.ts'
import type { UpdateState } from '../../src-preload/contract/updates.ts'
import { isNewer } from '../core/version-order.ts'
import type { Clock, Timers } from './ports.ts'

/** Where newer versions come from. What it downloads it has verified against its release; nothing of it runs before `install`. */
export interface UpdateSource {
  /** The version on offer, whatever it is; null: none. */
  check(signal: AbortSignal): Promise<Result<string | null, Failure>>
  download(signal: AbortSignal, onShare: (share: number) => void): Promise<Result<null, Failure>>
  /** Ends the app, puts the new version in its place and starts that. */
  install(): void
}

export interface UpdatesDeps {
  /** Null: this build has none, `why` in words. */
  readonly source: UpdateSource | null
  readonly why: string
  readonly version: string
  readonly mode: () => Settings['updates']
  /** Why the app cannot be ended now, in words; null when it can. */
  readonly busy: () => string | null
  readonly onChange: () => void
  readonly clock: Clock
  readonly timers: Timers
  readonly log: (level: 'info' | 'error', event: string, facts: Record<string, unknown>) => void
}

const firstLookAfterMs = 60_000
const lookEveryMs = 24 * 60 * 60 * 1_000
const checkWithinMs = 30_000
/** A download that has not got on for so long is ended. */
const stallMs = 60_000

/**
 * Looks for newer versions as the owner has set it: never, or daily with a note, or daily with a download that goes in at the next quit.
 * U1. Nothing is asked of any server while it is off, but by the owner's own click. U2. An older or the same version is never taken. U3. The app
 * is never ended for an update while a task runs, a hold waits or the journal has work; it says what it waits for.
 */
export class Updates {
  readonly #deps: UpdatesDeps
  readonly #lifetime = new AbortController()
  #state: UpdateState

  constructor(deps: UpdatesDeps) {
    this.#deps = deps
    this.#state = deps.source === null ? { is: 'unsupported', why: deps.why } : { is: 'idle' }
  }

  /** Begins to look by itself, where the owner wants that. */
  start(): void {
    if (this.#deps.source !== null) this.#lookAfter(firstLookAfterMs)
  }

  /** Looks and downloads no more. A version that is ready stays so. */
  close(): void {
    this.#lifetime.abort()
  }

  /** What the window shows. What a ready version waits for is asked anew. */
  state(): UpdateState {
    return this.#state.is === 'ready' ? { ...this.#state, waitsFor: this.#deps.busy() } : this.#state
  }

  /** Looks now: the owner's click, or the daily look. */
  async look(): Promise<UpdateState> {
    const { source } = this.#deps
    if (source === null || this.#state.is === 'checking' || this.#state.is === 'downloading' || this.#state.is === 'ready') return this.state()
    this.#turn({ is: 'checking' })
    const found = await this.#whileItGetsOn((signal) => source.check(signal), checkWithinMs)
    this.#turn(this.#judged(found))
    if (this.#state.is === 'found' && this.#deps.mode() === 'automatic') await this.download()
    return this.state()
  }

  /** Downloads what was found. */
  async download(): Promise<UpdateState> {
    const { source } = this.#deps
    if (source === null || this.#state.is !== 'found') return this.state()
    const { version } = this.#state
    this.#turn({ is: 'downloading', version, share: 0 })
    const done = await this.#whileItGetsOn((signal, gotOn) => source.download(signal, (share) => {
      gotOn()
      if (!signal.aborted && this.#state.is === 'downloading') this.#turn({ is: 'downloading', version, share: Math.min(1, Math.max(0, share)) })
    }))
    if (!done.ok) this.#deps.log('error', 'an update was not downloaded', { version, code: done.error.code, message: done.error.message })
    this.#turn(done.ok ? { is: 'ready', version, waitsFor: null } : this.#failed(done.error))
    return this.state()
  }

  /** Installs what is ready: at the owner's click, or at the end of a quit. Refused while the app is busy. */
  install(): Result<null, Failure> {
    const { source } = this.#deps
    if (source === null || this.#state.is !== 'ready') return err(failure('wrong-state', 'No new version is ready.', 'Look for one first.'))
    const busy = this.#deps.busy()
    if (busy !== null) return err(failure('too-busy', `The new version waits: ${busy}.`, 'It can be installed when that is over.'))
    this.#deps.log('info', 'an update is installed', { from: this.#deps.version, to: this.#state.version })
    source.install()
    return ok(null)
  }

  /** Whether the quit that is under way ends in an installation: only where the owner lets it happen by itself. */
  installsAtQuit(): boolean {
    return this.#state.is === 'ready' && this.#deps.mode() === 'automatic' && this.#deps.busy() === null
  }

  #judged(found: Result<string | null, Failure>): UpdateState {
    if (!found.ok) return this.#failed(found.error)
    if (found.value === null || found.value === this.#deps.version) return { is: 'current', checkedAt: this.#deps.clock.now() }
    if (isNewer(found.value, this.#deps.version)) return { is: 'found', version: found.value }
    this.#deps.log('error', 'an older version was offered and is not taken', { offered: found.value, has: this.#deps.version })
    return { is: 'current', checkedAt: this.#deps.clock.now() }
  }

  #failed({ message }: Failure): UpdateState {
    return { is: 'failed', message, at: this.#deps.clock.now() }
  }

  #turn(state: UpdateState): void {
    this.#state = state
    this.#deps.onChange()
  }

  #lookAfter(ms: number): void {
    this.#deps.timers.after(ms, this.#lifetime.signal, () => {
      if (this.#deps.mode() !== 'off') void this.look()
      this.#lookAfter(lookEveryMs)
    })
  }

  /** Ends what has not got on for `ms`, or when the app closes. */
  async #whileItGetsOn<T>(work: (signal: AbortSignal, gotOn: () => void) => Promise<Result<T, Failure>>, ms = stallMs): Promise<Result<T, Failure>> {
    const bound = new AbortController()
    const ending = bound.signal
    const close = (): void => { bound.abort() }
    this.#lifetime.signal.addEventListener('abort', close, { once: true })
    let waiting = new AbortController()
    const ended = new Promise<Result<T, Failure>>((resolve) => {
      ending.addEventListener('abort', () => { resolve(err(failure('unavailable', 'The update server did not answer in time.', 'Try again later.'))) }, { once: true })
    })
    const arm = (): void => {
      waiting.abort()
      waiting = new AbortController()
      this.#deps.timers.after(ms, waiting.signal, () => { bound.abort() })
    }
    arm()
    try {
      return await Promise.race([work(ending, arm), ended])
    } finally {
      waiting.abort()
      this.#lifetime.signal.removeEventListener('abort', close)
    }
  }
}
