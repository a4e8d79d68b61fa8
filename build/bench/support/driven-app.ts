import type { CDPSession } from '@playwright/test'
import { setTimeout as pause } from 'node:timers/promises'
import { App, type LaunchOptions } from '../../../e2e/app.ts'
import { packageIfOutdated } from '../../checks/fresh-package.ts'
import { onVirtualScreen } from '../../checks/packaged-screen.ts'
import { ensureSystemPackages } from '../../runtime/system-packages.ts'

/** Gives `work` the environment of e2e/ as this process's own: the packaged app, a screen, an account. */
export async function withDrivenApps<T>(work: () => Promise<T>): Promise<T> {
  await ensureSystemPackages(['window', 'display'])
  await packageIfOutdated()
  return onVirtualScreen((env) => {
    Object.assign(process.env, env)
    return work()
  })
}

/** Tasks of the window's thread that took longer than 50 ms: how many, and the longest in milliseconds (0: none). */
export interface LongTasks { readonly count: number; readonly longestMs: number }

/** Runs in the window: `benchLongTasks()` ends the watch and gives the durations in milliseconds. */
const watchLongTasks = `{
  const seen = []
  const observer = new PerformanceObserver((list) => { for (const entry of list.getEntries()) seen.push(entry.duration) })
  observer.observe({ type: 'longtask' })
  globalThis.benchLongTasks = () => { for (const entry of observer.takeRecords()) seen.push(entry.duration); observer.disconnect(); return seen }
}`

/** The packaged app with eyes on its window's thread and heap. */
export class DrivenApp {
  readonly app: App
  readonly #devTools: CDPSession

  private constructor(app: App, devTools: CDPSession) {
    this.app = app
    this.#devTools = devTools
  }

  static async launch(options: LaunchOptions): Promise<DrivenApp> {
    const app = await App.launch(options)
    return new DrivenApp(app, await app.window.context().newCDPSession(app.window))
  }

  /** Runs `work` and tells what of the window's thread took longer than 50 ms meanwhile. Source: https://w3c.github.io/longtasks/ */
  async longTasksOf(work: () => Promise<void>): Promise<LongTasks> {
    const { window } = this.app
    await window.evaluate(watchLongTasks)
    await work()
    const seen = await window.evaluate<number[]>('benchLongTasks()')
    return { count: seen.length, longestMs: Math.max(0, ...seen) }
  }

  /** Bytes of the window's JavaScript heap that are in use, after collection. A second one takes what the first has only let go of. */
  async heapBytes(): Promise<number> {
    await this.#devTools.send('HeapProfiler.enable')
    for (let collections = 0; collections < 2; collections += 1) {
      await this.#devTools.send('HeapProfiler.collectGarbage')
      await pause(500)
    }
    const { usedSize } = await this.#devTools.send('Runtime.getHeapUsage')
    return usedSize
  }

  close(): Promise<void> {
    return this.app.close()
  }
}
