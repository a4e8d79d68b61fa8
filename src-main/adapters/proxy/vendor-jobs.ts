import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { VendorCli } from '../../../src-preload/contract/settings.ts'
import { vendorIdOf, type VendorOrder, type VendorWord } from '../../core/gateway/vendor.ts'
import type { VendorProcess, VendorSandbox } from '../../engine/ports.ts'
import type { Log } from './child-port.ts'
import { openVendorEgress, type VendorEgress } from './vendor-egress.ts'

export interface VendorJobsDeps {
  readonly sandbox: VendorSandbox
  /** What the owner has set; null: no program. */
  readonly vendor: () => VendorCli | null
  /** A private folder of the app's own, the program's home where the owner named none. */
  readonly homeDir: string
  /** A private folder for the sockets of the way out; short, since a socket's path has less than 100 bytes. */
  readonly runRoot: string
  readonly log: Log
}

const outputBytesMax = 4 * 1024 * 1024

/** Runs the vendor's program in a sandbox for the proxy process, which cannot start anything itself. */
export class VendorJobs {
  readonly #deps: VendorJobsDeps
  readonly #running = new Map<number, AbortController>()
  readonly #open = new Set<Promise<void>>()

  constructor(deps: VendorJobsDeps) {
    this.#deps = deps
  }

  /** Takes an order for the program of that id; `say` gets its words, the last one exactly once. */
  ask(jobId: number, order: VendorOrder, vendorId: string, say: (word: VendorWord) => void): void {
    const ending = new AbortController()
    this.#running.set(jobId, ending)
    const job = this.#run(order, vendorId, say, ending.signal).catch((error: unknown): VendorWord => {
      this.#deps.log('error', `the vendor's program: ${error instanceof Error ? error.message : 'unknown'}`)
      return ended(failure('sandbox-failed', 'The vendor\'s program could not be run or ended.', 'Look at the log. Restart the app if it does not mend itself.'))
    }).then((last) => {
      this.#running.delete(jobId)
      say(last)
    })
    this.#open.add(job)
    void job.then(() => { this.#open.delete(job) })
  }

  stop(jobId: number): void {
    this.#running.get(jobId)?.abort()
  }

  /** Ends every run, and resolves when nobody is left. */
  async stopAll(): Promise<void> {
    for (const ending of this.#running.values()) ending.abort()
    await Promise.all(this.#open)
  }

  async #run(order: VendorOrder, vendorId: string, say: (word: VendorWord) => void, signal: AbortSignal): Promise<VendorWord> {
    const vendor = this.#deps.vendor()
    if (vendor === null) return ended(failure('unavailable', 'No vendor\'s program is set.', 'Name one in Settings → Fallbacks.'))
    if (vendorIdOf(vendor) !== vendorId) return ended(failure('unavailable', 'Another vendor\'s program was set meanwhile.', 'Start a new task to have it approved.'))
    const egress = await openVendorEgress({
      socketPath: join(this.#deps.runRoot, randomBytes(6).toString('hex'), 'out.sock'), hosts: () => vendor.hosts,
      onRefused: (host, why) => { this.#deps.log('warn', `the vendor's program wanted to reach a host and was refused: ${host}, ${why}`) },
    })
    try {
      return await this.#launch(vendor, order, egress, say, signal)
    } finally {
      await egress.close()
    }
  }

  async #launch(vendor: VendorCli, order: VendorOrder, egress: VendorEgress, say: (word: VendorWord) => void, signal: AbortSignal): Promise<VendorWord> {
    await mkdir(this.#deps.homeDir, { recursive: true, mode: 0o700 })
    const serves = order.is === 'serve'
    const launched = await this.#deps.sandbox.launch({
      label: vendor.label, programPath: vendor.program, args: serves ? vendor.serveArgs : vendor.execArgs, homeDir: vendor.homeFolder ?? this.#deps.homeDir, readOnlyDirs: vendor.folders,
      prompt: order.is === 'exec' ? order.prompt : null, serves, egressSocketPath: egress.socketPath, outputBytesMax,
    }, signal)
    if (!launched.ok) return ended(launched.error)
    const { socketPath } = launched.value
    if (socketPath !== null) say({ is: 'up', address: { is: 'socket', socketPath } })
    return lastWord(vendor, order, launched.value)
  }
}

async function lastWord(vendor: VendorCli, order: VendorOrder, program: VendorProcess): Promise<VendorWord> {
  const { exitCode, text, lastWords, limitHit } = await program.ended
  if (limitHit !== null) return ended(failure('limit-hit', `${vendor.label} ${limitHit} and was ended.`, 'Nothing of it was used.'))
  return { is: 'ended', exitCode, text: order.is === 'exec' ? text : lastWords.slice(-1_000), failure: null }
}

function ended(why: Failure): VendorWord {
  return { is: 'ended', exitCode: null, text: '', failure: why }
}
