import { chromium, type Browser, type Page } from '@playwright/test'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { appExecutable, newOwnerFolder, ownerEnvironment, subfolder } from './owner-folder.ts'

/** Exactly what ships, with its inspect fuse off: steered through Chromium's own debugging port. */
export class ShippedApp {
  readonly window: Page
  readonly #browser: Browser
  readonly #process: ChildProcess
  readonly #ownerFolder: string
  readonly #output: { text: string }

  private constructor(window: Page, browser: Browser, child: ChildProcess, ownerFolder: string, output: { text: string }) {
    this.window = window
    this.#browser = browser
    this.#process = child
    this.#ownerFolder = ownerFolder
    this.#output = output
  }

  static async launch(extraArguments: readonly string[] = []): Promise<ShippedApp> {
    const ownerFolder = newOwnerFolder()
    const args = [`--user-data-dir=${subfolder(ownerFolder, 'user-data')}`, '--remote-debugging-port=0', '--disable-gpu', ...extraArguments]
    const child = spawn(appExecutable('shipped'), args, { cwd: ownerFolder, env: ownerEnvironment(ownerFolder), stdio: ['ignore', 'pipe', 'pipe'] })
    const output = { text: '' }
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output.text += chunk.toString()))
    const endpoint = await waitForLine(child, output, /^DevTools listening on (ws:\S+)$/m)
    const browser = await chromium.connectOverCDP(endpoint)
    const context = browser.contexts()[0]
    if (context === undefined) throw new Error('the app has no browser context')
    const window = context.pages()[0] ?? (await context.waitForEvent('page'))
    await window.waitForLoadState('domcontentloaded')
    return new ShippedApp(window, browser, child, ownerFolder, output)
  }

  /** Everything that the app printed so far. */
  get output(): string {
    return this.#output.text
  }

  /** Waits until the app has printed a line like `pattern`; gives its first group, or the line. */
  async line(pattern: RegExp): Promise<string> {
    return waitForLine(this.#process, this.#output, pattern)
  }

  async close(): Promise<void> {
    await this.#browser.close()
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill()
      await once(this.#process, 'exit')
    }
    rmSync(this.#ownerFolder, { recursive: true, force: true })
  }
}

/** Waits until a started app has printed a line like `pattern`; gives its first group, or the line. @throws when the app has ended */
export async function waitForLine(child: ChildProcess, output: { readonly text: string }, pattern: RegExp): Promise<string> {
  for (;;) {
    const found = pattern.exec(output.text)
    if (found !== null) return found[1] ?? found[0]
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the app ended with ${child.exitCode ?? child.signalCode}:\n${output.text}`)
    const { stdout, stderr } = child
    if (stdout === null || stderr === null) throw new Error('the app was started without pipes')
    await Promise.race([once(stdout, 'data'), once(stderr, 'data'), once(child, 'exit')])
  }
}
