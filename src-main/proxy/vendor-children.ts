import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failure } from '../../src-preload/contract/failure.ts'
import type { VendorCli } from '../../src-preload/contract/settings.ts'
import type { VendorOrder, VendorWord } from '../core/gateway/vendor.ts'
import { proxyLimits } from './proxy-limits.ts'
import type { VendorHost } from './vendor-host.ts'

/**
 * The vendor's program as a plain child of this process, without any sandbox: only for a proxy that runs alone, whose operator is told so.
 * It gets an environment of a few names, an empty folder to work in, and its prompt in a file of that folder; it is ended with its group.
 */
export function plainVendorHost(cli: VendorCli, environment: NodeJS.ProcessEnv): VendorHost {
  return {
    start: (order, onWord) => {
      const run = new PlainRun(cli, environment, order, onWord)
      void run.start()
      return { stop: () => { run.stop() } }
    },
  }
}

const kept = ['PATH', 'LANG', 'LC_ALL', 'TMPDIR', 'HOME'] as const

class PlainRun {
  readonly #cli: VendorCli
  readonly #environment: NodeJS.ProcessEnv
  readonly #order: VendorOrder
  readonly #onWord: (word: VendorWord) => void
  #child: ChildProcess | null = null
  #text = ''
  #stopped = false
  /** Ended, with its output: its number is nobody's from here on. */
  #closed = false
  #tooLong = false

  constructor(cli: VendorCli, environment: NodeJS.ProcessEnv, order: VendorOrder, onWord: (word: VendorWord) => void) {
    this.#cli = cli
    this.#environment = environment
    this.#order = order
    this.#onWord = onWord
  }

  /** Runs it, and gives its last word once its folder is off the disk. */
  async start(): Promise<void> {
    this.#onWord(await this.#within().catch((error: unknown): VendorWord => {
      if (!(error instanceof Error)) throw error
      return { is: 'ended', exitCode: null, text: '', failure: failure('unavailable', `${this.#cli.label} could not be run: ${error.message}`, 'Check its program and arguments.') }
    }))
  }

  /** From an empty folder of its own to that folder's removal. */
  async #within(): Promise<VendorWord> {
    const folder = await mkdtemp(join(tmpdir(), 'cs-vendor-'))
    try {
      const port = this.#order.is === 'serve' ? await freePort() : null
      const promptFile = join(folder, 'prompt.txt')
      if (this.#order.is === 'exec') await writeFile(promptFile, this.#order.prompt, { mode: 0o600 })
      return this.#stopped ? { is: 'ended', exitCode: null, text: '', failure: null } : await this.#run(folder, port, promptFile)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  /** The whole group, also when the program itself has ended: what it has started goes with it. What is out of reach holds nobody up. */
  stop(): void {
    this.#stopped = true
    this.#endGroup()
    this.#child?.stdout?.destroy()
    this.#child?.stderr?.destroy()
  }

  #endGroup(): void {
    const pid = this.#child?.pid
    if (pid === undefined || this.#closed) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch (error) {
      // Nobody of it is left, or (EPERM, macOS) only what has ended and was not collected yet.
      if (!(error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM'))) throw error
    }
  }

  #run(folder: string, port: number | null, promptFile: string): Promise<VendorWord> {
    const args = (port === null ? this.#cli.execArgs : this.#cli.serveArgs).map((arg) => arg.replaceAll('{port}', String(port)).replaceAll('{promptFile}', promptFile))
    const child = spawn(this.#cli.program, args, { cwd: folder, env: this.#variables(), stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    this.#child = child
    child.stdout.setEncoding('utf8').on('data', (text: string) => { this.#keep(text) })
    // Its complaints are not its answer; they go to whoever runs the proxy.
    child.stderr.resume()
    if (port !== null) queueMicrotask(() => { this.#onWord({ is: 'up', address: { is: 'port', port } }) })
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (exitCode) => {
        // What holds no output of it may still be there.
        this.#endGroup()
        this.#closed = true
        const why = this.#tooLong ? failure('limit-hit', `${this.#cli.label} printed more than ${proxyLimits.vendorTextBytesMax / 1024 / 1024} MiB.`, 'Nothing of it was used.') : null
        resolve({ is: 'ended', exitCode, text: this.#order.is === 'exec' && why === null ? this.#text : this.#text.slice(-1_000), failure: why })
      })
    })
  }

  #keep(text: string): void {
    this.#text += text
    if (this.#order.is === 'serve') this.#text = this.#text.slice(-1_000)
    else if (this.#text.length > proxyLimits.vendorTextBytesMax) { this.#tooLong = true; this.stop() }
  }

  #variables(): Record<string, string> {
    const variables: Record<string, string> = { NO_COLOR: '1', TERM: 'dumb' }
    for (const name of kept) {
      const value = this.#environment[name]
      if (value !== undefined) variables[name] = value
    }
    if (this.#cli.homeFolder !== null) variables['HOME'] = this.#cli.homeFolder
    return variables
  }
}

/** A loopback port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => { server.once('error', reject).listen(0, '127.0.0.1', resolve) })
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => { server.close(resolve) })
  return port
}
