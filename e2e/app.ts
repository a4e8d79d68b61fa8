import { _electron, type ElectronApplication, type Page } from '@playwright/test'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AuditRow, Bridge, MethodInput, MethodName, MethodOutput, NewTask } from '../src-preload/contract/methods.ts'
import type { TaskId } from '../src-preload/contract/ids.ts'
import type { Provider } from '../src-preload/contract/settings.ts'
import { appExecutable, give, newOwnerFolder, ownerEnvironment, subfolder } from './owner-folder.ts'
import { expectNobodyLeft } from './processes.ts'
import { Room } from './room.ts'

export interface LaunchOptions {
  /** Added to the fresh account's environment. */
  readonly env?: Record<string, string>
  readonly arguments?: readonly string[]
  /** An owner's folder of an earlier launch, to start the same installation again. It is then the test's to remove. */
  readonly ownerFolder?: string
  /** Given to the app by a COUNTERSIGN_PROVIDERS file. */
  readonly providers?: readonly Provider[]
}

type InMain<Result, Given> = (electron: typeof Electron, given: Given) => Result | Promise<Result>

declare global {
  interface Window {
    readonly countersign?: Bridge
  }
}

/** The packaged app, started once, with its one window. */
export class App {
  readonly electron: ElectronApplication
  readonly window: Page
  readonly room: Room
  readonly ownerFolder: string
  /** Console errors and uncaught exceptions of the window, in order. */
  readonly windowErrors: readonly string[]
  readonly #removesFolder: boolean

  private constructor(electron: ElectronApplication, window: Page, ownerFolder: string, windowErrors: string[], removesFolder: boolean) {
    this.electron = electron
    this.window = window
    this.room = new Room(window)
    this.ownerFolder = ownerFolder
    this.windowErrors = windowErrors
    this.#removesFolder = removesFolder
  }

  static async launch(options: LaunchOptions = {}): Promise<App> {
    const ownerFolder = options.ownerFolder ?? newOwnerFolder()
    const electron = await _electron.launch({
      executablePath: appExecutable('inspectable'),
      // Playwright's own default is --no-sandbox.
      chromiumSandbox: true,
      args: [`--user-data-dir=${subfolder(ownerFolder, 'user-data')}`, '--disable-gpu', ...(options.arguments ?? [])],
      env: { ...ownerEnvironment(ownerFolder), ...providersIn(ownerFolder, options.providers), ...options.env },
      cwd: ownerFolder,
    })
    const windowErrors: string[] = []
    electron.on('window', (page) => {
      page.on('console', (message) => {
        if (message.type() === 'error') windowErrors.push(message.text())
      })
      page.on('pageerror', (error) => windowErrors.push(String(error)))
    })
    const window = await electron.firstWindow()
    await window.waitForLoadState('domcontentloaded')
    const app = new App(electron, window, ownerFolder, windowErrors, options.ownerFolder === undefined)
    // Playwright cannot see the system's own dialogs: whether to quit while a task runs is answered with the first button, which quits.
    await app.inMain(({ dialog }) => { dialog.showMessageBox = () => Promise.resolve({ response: 0, checkboxChecked: false }) })
    return app
  }

  /** The journal, logs and settings of this installation. */
  get userData(): string {
    return join(this.ownerFolder, 'user-data')
  }

  /** A call of the window's bridge, for facts that no row shows and for setting a scene. @throws when the app answers with a failure; `code` is the failure's */
  async call<M extends MethodName>(method: M, input: MethodInput<M>): Promise<MethodOutput<M>> {
    const result = await this.window.evaluate(async ([name, given]) => {
      const bridge = window.countersign
      if (bridge === undefined) throw new Error('the window has no bridge')
      return bridge.call(name as never, given as never)
    }, [method, input] as const)
    if (!result.ok) throw Object.assign(new Error(`${method}: ${result.error.message} ${result.error.todo}`), { code: result.error.code })
    return result.value
  }

  /** Begins a task on the sample's folder with other words and models than the sample's. */
  async begin(task: Partial<NewTask> & Pick<NewTask, 'models'>): Promise<string> {
    const { defaults } = await this.call('settings.get', {})
    const wanted: NewTask = {
      commandId: `test-${crypto.randomUUID()}` as NewTask['commandId'], title: 'A task of the tests', requirement: 'Do what the script says.', criteria: [], testCommand: 'true', source: { kind: 'sample' },
      budget: defaults.budget, grant: defaults.grant, revisionOf: null, ...task,
    }
    for (let tries = 1; ; tries += 1) {
      try {
        return (await this.call('task.create', wanted)).taskId
      } catch (error) {
        // A busy machine may need several tries to learn the coder's version: the same click is given again, and the report says so.
        if (tries === 5 || !(error instanceof Error) || !('code' in error) || error.code !== 'opencode-probe-timeout') throw error
        console.warn(`try ${tries} of 5: ${error.message}`)
      }
    }
  }

  /** The id of the task that the room shows. */
  async shownTask(): Promise<TaskId> {
    return await this.room.header.getAttribute('data-task-id') as TaskId
  }

  /** The audit's rows that contain `text`, oldest first. */
  async audit(text = ''): Promise<readonly AuditRow[]> {
    const rows: AuditRow[] = []
    for (;;) {
      const page = await this.call('audit.query', { taskId: null, text, beforeSeq: rows.at(-1)?.seq ?? null, limit: 500 })
      rows.push(...page)
      if (page.length < 500) return rows.reverse()
    }
  }

  /** The audit's rows of one kind of event, oldest first. */
  async eventsOf(type: string): Promise<readonly AuditRow[]> {
    return (await this.audit()).filter((row) => row.type === type)
  }

  /**
   * Runs `script` in the main process. While main still loads, V8 may collect the debugger's own promise before its answer is read; then
   * the script is run again, so what runs soon after a launch must be safe to repeat.
   */
  async inMain<Result, Given = undefined>(script: InMain<Result, Given>, given?: Given): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await (this.electron.evaluate as (script: InMain<Result, Given>, given?: Given) => Promise<Result>)(script, given)
      } catch (error) {
        if (attempt === 20 || !(error instanceof Error) || !error.message.includes('garbage collected')) throw error
      }
    }
  }

  /** What the owner chooses in the next folder dialog. */
  async willPickFolder(path: string): Promise<void> {
    await this.inMain(({ dialog }, chosen) => { dialog.showOpenDialog = () => Promise.resolve({ canceled: false, filePaths: [chosen] }) }, path)
  }

  /** Where the owner saves in the next save dialog. */
  async willSaveAs(path: string): Promise<void> {
    await this.inMain(({ dialog }, chosen) => { dialog.showSaveDialog = () => Promise.resolve({ canceled: false, filePath: chosen }) }, path)
  }

  /** Kills the main process as a crash would; the folder stays for the next launch. */
  async crash(): Promise<void> {
    const main = this.electron.process()
    const ended = once(main, 'exit')
    main.kill('SIGKILL')
    await ended
  }

  /** Quits, proves that nobody is left, and removes the folder if this launch made it. */
  async close(): Promise<void> {
    await this.electron.close()
    await expectNobodyLeft(this.ownerFolder)
    if (this.#removesFolder) rmSync(this.ownerFolder, { recursive: true, force: true })
  }
}

/** Writes the providers' file into the owner's folder; gives the variable that names it. */
export function providersIn(ownerFolder: string, providers: readonly Provider[] | undefined): Record<string, string> {
  if (providers === undefined) return {}
  const path = join(ownerFolder, 'providers.json')
  writeFileSync(path, JSON.stringify(providers))
  give(path)
  return { COUNTERSIGN_PROVIDERS: path }
}
