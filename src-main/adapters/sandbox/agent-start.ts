import type { ChildProcess } from 'node:child_process'
import { link, lstat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { AgentSpec } from '../../engine/ports.ts'
import type { RunFolder } from './run-folder.ts'
import { sandboxLimits } from './sandbox-limits.ts'
import { agentVariablePrefix } from './scripts.ts'
import { eachLine } from './text-lines.ts'

/** Of the start of an agent, what is the same in every kind of sandbox. */

/** Only the bridge gives the agent's variables their names back, so none of them can steer the launcher, the loader or Bun. `home`: a folder that holds nothing but our scripts. */
export function launchEnvironment(spec: Pick<AgentSpec, 'env'>, home: string): Readonly<Record<string, string>> {
  const own = Object.entries(spec.env).map(([name, value]) => [agentVariablePrefix + name, value] as const)
  return { ...Object.fromEntries(own), BUN_BE_BUN: '1', HOME: home, PATH: '/usr/bin:/bin' }
}

export const noProxy = failure('sandbox-failed', 'The model proxy\'s socket is not there.', 'Try again; if it stays, restart the app.')

/** Follows the agent's lines. `ready` turns true with the ready line, false when the output ended before it. */
export function followOutput(spec: Pick<AgentSpec, 'readyLine' | 'onLine'>, child: ChildProcess): { readonly ready: Promise<boolean>; readonly lastWords: () => string } {
  let words = ''
  const { stdout, stderr } = child as unknown as { readonly stdout: Readable; readonly stderr: Readable }
  const follow = (name: 'stdout' | 'stderr', onLine: (line: string) => void): Promise<void> => eachLine(name === 'stdout' ? stdout : stderr, (line) => {
    words = `${words}${line}\n`.slice(-sandboxLimits.setUpTextCharsMax)
    onLine(line)
    spec.onLine(name, line)
  })
  const ready = new Promise<boolean>((done, fail) => {
    const both = [follow('stdout', (line) => { if (line.search(spec.readyLine) >= 0) done(true) }), follow('stderr', () => undefined)]
    Promise.all(both).then(() => { done(false) }, fail)
  })
  return { ready, lastWords: () => words }
}

export type Outcome = 'ready' | 'ended' | 'late' | 'aborted'

/** How a start went: at the latest after `withinMs`. */
export async function untilReady(ready: Promise<boolean>, withinMs: number, signal: AbortSignal): Promise<Outcome> {
  if (signal.aborted) return 'aborted'
  const watch = new AbortController()
  const stopped = new Promise<Outcome>((done) => {
    const timer = setTimeout(done, withinMs, 'late')
    const aborted = (): void => { done('aborted') }
    signal.addEventListener('abort', aborted, { once: true })
    watch.signal.addEventListener('abort', () => { clearTimeout(timer); signal.removeEventListener('abort', aborted) }, { once: true })
  })
  const outcome = await Promise.race([ready.then((was): Outcome => (was ? 'ready' : 'ended')), stopped])
  watch.abort()
  return outcome
}

/** Why a start failed, with the last words of what was started. */
export function notReady(outcome: Exclude<Outcome, 'ready'>, { readyWithinMs }: Pick<AgentSpec, 'readyWithinMs'>, words: string): Failure {
  const last = words.trim().split('\n').slice(-3).join(' / ').slice(-600)
  const said = last === '' ? 'It said nothing.' : `Its last words: ${last}`
  if (outcome === 'aborted') return failure('cancelled', 'The start of the coder was stopped.', 'Nothing to do.')
  if (outcome === 'late') return failure('sandbox-failed', `The coder was not ready within ${readyWithinMs} ms. ${said}`, 'Try again; a loaded machine may need longer.')
  return failure('sandbox-failed', `The coder ended before it was ready. ${said}`, 'Look at its last words above, and check the chosen OpenCode in Settings → Runtimes.')
}

/**
 * The control socket lies in a folder that the agent can write to. A hard link to it outside of that folder cannot be replaced
 * from inside; only the link is ever dialled, and only if it is a socket.
 */
export async function controlSocketProblem(folder: RunFolder): Promise<Failure | null> {
  const found = await link(folder.controlSocketInside, folder.controlSocket).then(() => lstat(folder.controlSocket), () => null)
  if (found?.isSocket() === true) return null
  return failure('sandbox-failed', 'The coder\'s control socket is missing or was replaced by something else.', 'Check the chosen OpenCode in Settings → Runtimes: the program inside did not behave as the one that ships with the app.')
}
