import { fork, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { taskIdSchema, type Bot } from '../../../src-preload/contract/ids.ts'
import type { Clock, Ids, ModelTarget, Timers } from '../../engine/ports.ts'
import type { Fork } from './child-port.ts'

/** The entries of the proxy and of the demo provider, run by plain Node. */
export const entries = { proxy: resolve(import.meta.dirname, '../../proxy/entry.ts'), demo: resolve(import.meta.dirname, '../../demo/entry.ts') }

/** Starts an entry with Node's fork; `children` collects what was started, newest last. */
export function nodeFork(entry: string, children: ChildProcess[] = []): Fork {
  return (onMessage) => {
    const child = fork(entry, { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    children.push(child)
    child.on('message', onMessage)
    return {
      post: (message) => { if (child.connected) child.send(message as object, () => undefined) },
      kill: () => { child.kill('SIGKILL') },
      exited: new Promise((done) => { child.on('exit', (code) => done({ code })) }),
    }
  }
}

export const realClock: Clock = { now: () => Date.now() }

export const realTimers: Timers = {
  after: (ms, signal, run) => {
    if (signal.aborted) return
    const timer = setTimeout(run, ms)
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  },
}

export function countingIds(): Ids {
  let count = 0
  return { next: (prefix) => `${prefix}_${String(++count).padStart(8, '0')}` }
}

/** A private folder with a short path; `release` removes it. */
export function runFolder(): { readonly path: string; release(): void } {
  const path = mkdtempSync(join(tmpdir(), 'cs-gw-'))
  return { path, release: () => rmSync(path, { recursive: true, force: true }) }
}

export function taskOf(name: string): ReturnType<typeof taskIdSchema.parse> {
  return taskIdSchema.parse(name)
}

/** A target without a key on a loopback port. */
export function targetOn(port: number, changes: Partial<ModelTarget> = {}): ModelTarget {
  return {
    ref: { providerId: 'stub', modelId: 'stub-model' }, providerLabel: 'Stub', baseUrl: `http://127.0.0.1:${port}/v1`, api: 'chat', remote: false, demo: false, needsKey: false,
    contextTokens: 100_000, outputTokens: 8_000, price: null, ...changes,
  }
}

export const coder: Bot = 'coder'
export const lead: Bot = 'lead'
