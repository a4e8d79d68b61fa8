import { chromium, type Browser, type Page } from '@playwright/test'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { waitForLine } from './shipped-app.ts'

interface Member { readonly pid: number; readonly uid: number; readonly command: string; readonly seccomp: string }

/** The app as it is installed on a system (COUNTERSIGN_INSTALLED_APP starts it, as the account COUNTERSIGN_INSTALLED_UID), with its data where any account has it. */
export class InstalledApp {
  readonly window: Page
  readonly uid: number
  /** The account's home, as this process sees it. */
  readonly home: string
  readonly #browser: Browser
  readonly #process: ChildProcess
  readonly #output: { text: string }

  private constructor(window: Page, browser: Browser, child: ChildProcess, output: { text: string }, account: { readonly uid: number; readonly home: string }) {
    this.window = window
    this.#browser = browser
    this.#process = child
    this.#output = output
    this.uid = account.uid
    this.home = account.home
  }

  static async launch(): Promise<InstalledApp> {
    const [launcher, uid, home] = ['APP', 'UID', 'HOME'].map((name) => process.env[`COUNTERSIGN_INSTALLED_${name}`])
    if (launcher === undefined || uid === undefined || home === undefined) throw new Error('start this with npm run deb-check')
    const child = spawn(launcher, ['--remote-debugging-port=0', '--disable-gpu'], { stdio: ['ignore', 'pipe', 'pipe'] })
    const output = { text: '' }
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output.text += chunk.toString()))
    const browser = await chromium.connectOverCDP(await waitForLine(child, output, /^DevTools listening on (ws:\S+)$/m))
    const context = browser.contexts()[0]
    if (context === undefined) throw new Error('the app has no browser context')
    const window = context.pages()[0] ?? (await context.waitForEvent('page'))
    await window.waitForLoadState('domcontentloaded')
    return new InstalledApp(window, browser, child, output, { uid: Number(uid), home })
  }

  get output(): string {
    return this.#output.text
  }

  renderers(): readonly Member[] {
    return this.#members().filter(({ command }) => command.includes('--type=renderer'))
  }

  /** Tells the app itself to end, as a session does, and waits until it has. */
  async quit(): Promise<void> {
    const main = this.#members().find(({ command }) => !command.includes('--type=') && command.includes('--remote-debugging-port'))
    if (main === undefined) throw new Error('the app is not running')
    const ended = once(this.#process, 'exit')
    process.kill(main.pid, 'SIGTERM')
    await this.#browser.close()
    await ended
  }

  /** Whatever happened: nothing of it stays. */
  kill(): void {
    this.#process.kill('SIGKILL')
  }

  #members(): readonly Member[] {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((name) => read(Number(name))).filter(({ uid, command }) => uid === this.uid && command.includes('countersign'))
  }
}

function read(pid: number): readonly Member[] {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    const seccomp = /^Seccomp:\s+(\d)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? ''
    return [{ pid, uid: statSync(`/proc/${pid}`).uid, command, seccomp }]
  } catch (gone) {
    if (gone instanceof Error && 'code' in gone && ['ENOENT', 'ESRCH', 'EACCES'].includes(String(gone.code))) return []
    throw gone
  }
}
