import { chromium, type Browser, type Page } from '@playwright/test'
import { spawn, type ChildProcess } from 'node:child_process'
import { providersIn } from '../../e2e/app.ts'
import { appExecutable, ownerEnvironment, subfolder } from '../../e2e/owner-folder.ts'
import { waitForLine } from '../../e2e/shipped-app.ts'
import type { Failure } from '../../src-preload/contract/failure.ts'
import type { Bridge, MethodInput, MethodName, MethodOutput } from '../../src-preload/contract/methods.ts'
import type { Provider } from '../../src-preload/contract/settings.ts'
import type { Result } from '../../src-preload/contract/result.ts'

export interface LifeOptions { readonly ownerFolder: string; readonly providers: readonly Provider[]; /** As `COUNTERSIGN_FAILPOINT`; null for none. */ readonly failpoint: string | null }

/** One process of the packaged app that tests can steer, from its start to its end by whatever hand. */
export class Life {
  readonly #child: ChildProcess
  readonly #output = { text: '' }
  #browser: Browser | null = null
  #page: Page | null = null
  #over = false
  /** Resolves with the signal or exit code. */
  readonly ended: Promise<string>

  constructor(options: LifeOptions) {
    const { ownerFolder } = options
    this.#child = spawn(appExecutable('inspectable'), [`--user-data-dir=${subfolder(ownerFolder, 'user-data')}`, '--remote-debugging-port=0', '--disable-gpu', '--scripted-owner'], {
      cwd: ownerFolder, stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...ownerEnvironment(ownerFolder), ...providersIn(ownerFolder, options.providers), ...(options.failpoint === null ? {} : { COUNTERSIGN_FAILPOINT: options.failpoint }) },
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.on('data', (chunk: Buffer) => { this.#output.text += chunk.toString() })
    this.ended = new Promise((ended, failed) => {
      this.#child.once('error', failed)
      this.#child.once('exit', (code, signal) => { this.#over = true; ended(signal ?? String(code)) })
    })
  }

  get isOver(): boolean {
    return this.#over
  }

  get output(): string {
    return this.#output.text
  }

  /** Resolves to true when the window can be talked to, to false when the app ended before. */
  async open(): Promise<boolean> {
    return await this.#unlessOver(async () => {
      this.#browser = await chromium.connectOverCDP(await waitForLine(this.#child, this.#output, /^DevTools listening on (ws:\S+)$/m))
      const context = this.#browser.contexts()[0]
      if (context === undefined) throw new Error('the app has no browser context')
      this.#page = context.pages()[0] ?? await context.waitForEvent('page')
      await this.#page.waitForFunction(() => 'countersign' in globalThis)
      return true
    }) ?? false
  }

  /** A call of the window's bridge; null when the app ended before it was answered. */
  async call<M extends MethodName>(method: M, input: MethodInput<M>): Promise<Result<MethodOutput<M>, Failure> | null> {
    const page = this.#page
    if (page === null) throw new Error('the window is not open')
    return await this.#unlessOver(async () => {
      const result = await page.evaluate(async ([name, given]) => await (globalThis as unknown as { countersign: Bridge }).countersign.call(name as never, given as never) as unknown, [method, input] as const)
      return result as Result<MethodOutput<M>, Failure>
    })
  }

  kill(signal: 'SIGKILL' | 'SIGTERM'): void {
    if (!this.#over) this.#child.kill(signal)
  }

  /** After the end: lets the debugging connection go. */
  async forget(): Promise<void> {
    await this.#browser?.close().catch((error: unknown) => { if (!this.#over) throw error })
  }

  /** What fails because the app ended is the end; anything else is a fault. */
  async #unlessOver<T>(act: () => Promise<T>): Promise<T | null> {
    try {
      return await Promise.race([act(), this.ended.then(() => null)])
    } catch (error) {
      const over = await Promise.race([this.ended.then(() => true), new Promise<false>((late) => { setTimeout(() => { late(false) }, 2_000) })])
      if (over) return null
      throw error
    }
  }
}
