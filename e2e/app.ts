import { _electron, type ElectronApplication, type Page } from '@playwright/test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { appExecutable, newOwnerFolder, ownerEnvironment, subfolder } from './owner-folder.ts'

export interface LaunchOptions {
  /** Added to the fresh account's environment. */
  readonly env?: Record<string, string>
  readonly arguments?: readonly string[]
  /** An owner's folder of an earlier launch, to start the same installation again. It is then the test's to remove. */
  readonly ownerFolder?: string
}

/** The packaged app, started once, with its one window. */
export class App {
  readonly electron: ElectronApplication
  readonly window: Page
  readonly ownerFolder: string
  /** Console errors and uncaught exceptions of the window, in order. */
  readonly windowErrors: readonly string[]
  readonly #removesFolder: boolean

  private constructor(electron: ElectronApplication, window: Page, ownerFolder: string, windowErrors: string[], removesFolder: boolean) {
    this.electron = electron
    this.window = window
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
      env: { ...ownerEnvironment(ownerFolder), ...options.env },
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
    return new App(electron, window, ownerFolder, windowErrors, options.ownerFolder === undefined)
  }

  /** The journal, logs and settings of this installation. */
  get userData(): string {
    return join(this.ownerFolder, 'user-data')
  }

  async close(): Promise<void> {
    await this.electron.close()
    if (this.#removesFolder) rmSync(this.ownerFolder, { recursive: true, force: true })
  }
}
