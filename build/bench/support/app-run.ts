import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Bridge, MethodInput, MethodName, MethodOutput } from '../../../src-preload/contract/methods.ts'
import { DevTools } from './devtools.ts'
import { membersOf } from './process-tree.ts'
import { nowMs } from './row.ts'
import type { Stage } from './stage.ts'

export interface RunOptions {
  readonly executable: string
  /** The account's home; the app's state goes to `user-data` in it. Made if missing. */
  readonly home: string
  readonly env?: Readonly<Record<string, string>>
  /** Run in each document of the window before its own scripts. What it hands to `report(text)` arrives at `onReport`. */
  readonly script?: string
  readonly onReport?: (text: string) => void
}

const quitWithinMs = 20_000

/** What ships (or the bare window), started once as the stage's account, driven through Chromium's debugging port. */
export class AppRun {
  /** When the process was asked for, in milliseconds since the epoch. */
  readonly startedAt: number
  readonly #child: ChildProcessWithoutNullStreams
  readonly #home: string
  #output = ''
  #devTools: DevTools | null = null
  #page: Promise<string>

  private constructor(stage: Stage, options: RunOptions) {
    const own = (path: string): string => {
      mkdirSync(path, { recursive: true })
      if (stage.uid !== null) chownSync(path, stage.uid, stage.uid)
      return path
    }
    this.#home = own(options.home)
    const args = [`--user-data-dir=${own(join(options.home, 'user-data'))}`, '--remote-debugging-port=0', '--disable-gpu']
    const env = { PATH: process.env['PATH'] ?? '', DISPLAY: stage.display, LANG: 'C.UTF-8', HOME: options.home, TMPDIR: own(join(options.home, 'tmp')), ...options.env }
    this.startedAt = nowMs()
    this.#child = spawn(options.executable, args, { cwd: options.home, env, stdio: 'pipe' })
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => { this.#output += text })
    this.#page = this.#drive(options)
    // Whoever waits for the page hears of it; an app that was closed first has no page.
    this.#page.catch(() => undefined)
  }

  static start(stage: Stage, options: RunOptions): AppRun {
    return new AppRun(stage, options)
  }

  /** Everything that was printed so far. */
  get output(): string {
    return this.#output
  }

  /** Evaluates an expression in the window, promises awaited; its value must be JSON. */
  async evaluate(expression: string): Promise<unknown> {
    const session = await this.#page
    const answer = await this.#devTools?.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true, userGesture: true }, session) as { readonly result?: { readonly value?: unknown }; readonly exceptionDetails?: { readonly exception?: { readonly description?: string }; readonly text: string } }
    if (answer.exceptionDetails !== undefined) throw new Error(answer.exceptionDetails.exception?.description ?? answer.exceptionDetails.text)
    return answer.result?.value
  }

  /** Resolves when the window's own document is there: the empty one before it has a bridge, too, but goes. */
  async bridged(): Promise<void> {
    for (;;) {
      if (await this.evaluate("location.protocol === 'app:' && window.countersign !== undefined").catch(leftMeanwhile) === true) return
      await pause(20)
    }
  }

  /** A call of the window's bridge. @throws when the app answers with a failure */
  async call<M extends MethodName>(method: M, input: MethodInput<M>): Promise<MethodOutput<M>> {
    const result = await this.evaluate(`window.countersign.call(${JSON.stringify(method)}, ${JSON.stringify(input)})`) as Awaited<ReturnType<Bridge['call']>>
    if (!result.ok) throw new Error(`${method}: ${result.error.message} ${result.error.todo}`)
    return result.value as MethodOutput<M>
  }

  /** Ids of all processes of this run that live now. */
  members(): readonly number[] {
    return membersOf(this.#child.pid ?? -1, this.#home)
  }

  /** Asks the app to quit and waits until it has; kills it after 20 s, which fails the bench. */
  async close(): Promise<void> {
    const gone = this.#child.exitCode !== null || this.#child.signalCode !== null ? Promise.resolve() : once(this.#child, 'exit').then(() => undefined)
    this.#devTools?.close()
    this.#child.kill('SIGTERM')
    const bound = setTimeout(() => { this.#child.kill('SIGKILL') }, quitWithinMs)
    await gone
    clearTimeout(bound)
    if (this.#child.signalCode === 'SIGKILL') throw new Error(`the app did not quit within ${quitWithinMs} ms`)
  }

  async #drive({ script, onReport }: RunOptions): Promise<string> {
    const devTools = await DevTools.connect(await this.#line(/^DevTools listening on (ws:\S+)$/m))
    this.#devTools = devTools
    const first = new Promise<string>((resolve) => {
      devTools.listen((event) => {
        if (event.method === 'Runtime.bindingCalled') onReport?.(String(event.params['payload']))
        const target = event.params['targetInfo'] as { readonly type: string } | undefined
        if (event.method === 'Target.attachedToTarget' && target?.type === 'page') resolve(String(event.params['sessionId']))
      })
    })
    await devTools.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: true })
    const session = await first
    if (script === undefined) return session
    // All at once: the page is loading meanwhile. The script is for the document that is there, and for one that is still to come.
    await Promise.all([
      devTools.send('Runtime.enable', {}, session), devTools.send('Runtime.addBinding', { name: 'report' }, session), devTools.send('Page.enable', {}, session),
      devTools.send('Page.addScriptToEvaluateOnNewDocument', { source: script }, session), devTools.send('Runtime.evaluate', { expression: script }, session).catch(leftMeanwhile),
    ])
    return session
  }

  async #line(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.#output)
      if (found !== null) return found[1] ?? found[0]
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) throw new Error(`the app ended with ${String(this.#child.exitCode ?? this.#child.signalCode)}:\n${this.#output}`)
      await Promise.race([once(this.#child.stdout, 'data'), once(this.#child.stderr, 'data'), once(this.#child, 'exit')])
    }
  }
}

/** The document in which something was evaluated made way for the next one: no fault. @throws any other error again */
function leftMeanwhile(error: unknown): void {
  if (!(error instanceof Error) || !error.message.includes('xecution context')) throw error
}
