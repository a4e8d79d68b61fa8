import { spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { defaultSandboxLimits } from '../../../src-preload/contract/limits.ts'
import { holdNamespace } from './pid-namespace.ts'
import { createBubblewrapSandbox } from './bubblewrap-sandbox.ts'
import { openCodeBinary } from './sandbox.suite.ts'

interface Word { readonly pid: number; readonly startTime: string; readonly dir: string; readonly descriptors: string }

let host: ChildProcess | null = null
let dir: string | null = null
afterEach(() => {
  host?.kill('SIGKILL')
  if (dir !== null) rmSync(dir, { recursive: true, force: true })
})

async function startHost(): Promise<Word> {
  const extra = openSync(join(tmpdir()), 'r')
  // Descriptor 60 is as a careless launcher would leave it: open in the app and inheritable.
  host = spawn(process.execPath, [join(import.meta.dirname, 'host-program.suite.ts'), commandSeconds, daemonSeconds], { stdio: ['ignore', 'pipe', 'inherit', ...Array.from({ length: 57 }, () => 'ignore' as const), extra] })
  closeSync(extra)
  const [line] = (await once(host.stdout as NodeJS.ReadableStream, 'data')) as [Buffer]
  const word = JSON.parse(line.toString('utf8')) as Word
  dir = word.dir
  return word
}

// Of this run alone: what another run left behind must not be mistaken for ours.
const [commandSeconds, daemonSeconds] = [1, 2].map((last) => `${String(randomInt(1e8, 1e9))}${String(last)}`) as [string, string]

/**
 * Processes of the whole system with this text in their command line. A bwrap that never got past its own set-up has run nothing and is
 * ended by the next start's sweep (below): it is not counted.
 */
function withText(text: string): readonly string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).filter((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(text) && readFileSync(`/proc/${name}/comm`, 'latin1').trim() !== 'bwrap'
    } catch {
      return false // gone while we looked
    }
  })
}

test('nobody of agent and commands outlives a host that is killed', async () => {
  const { pid } = await startHost()
  const namespace = await holdNamespace(pid)
  while (withText(commandSeconds).length === 0) await new Promise((done) => setImmediate(done))
  expect((await namespace?.members())?.pids.length).toBeGreaterThan(3)
  host?.kill('SIGKILL')
  while (((await namespace?.members())?.pids.length ?? 0) > 0 || withText(commandSeconds).length + withText(daemonSeconds).length > 0) await new Promise((done) => setImmediate(done))
  await namespace?.release()
})

test('nothing that the host\'s starter left open gets into a sandbox', async () => {
  expect((await startHost()).descriptors).toBe('/dev/fd/0 /dev/fd/1 /dev/fd/2 /dev/fd/3')
})

test('the next run finds the killed run gone and removes what it left in the workspace', async () => {
  const { pid, startTime, dir: left } = await startHost()
  host?.kill('SIGKILL')
  await once(host!, 'exit')
  expect(readdirSync(join(left, 'workspace')).sort()).toEqual(['.opencode', 'opencode.json', 'opencode.jsonc'])
  const sandbox = createBubblewrapSandbox({ runRoot: join(left, 'run'), openCodeBinary: () => openCodeBinary, limits: () => defaultSandboxLimits, clock: { now: () => 7 }, ids: { next: (prefix) => `${prefix}_1` } })
  expect(await sandbox.endOrphans([{ pid, startTime }])).toMatchObject({ method: 'orphans-ended', at: 7, detail: expect.stringContaining('1 recorded') as string })
  expect([readdirSync(join(left, 'workspace')), readdirSync(join(left, 'run'))]).toEqual([[], []])
})

test('the next run ends a sandbox that was being set up when the host was killed', async () => {
  const { dir: left } = await startHost()
  host?.kill('SIGKILL')
  await once(host!, 'exit')
  // As bwrap's child is then: it waits for ever, in the run folder that it started in.
  const [folder] = readdirSync(join(left, 'run'))
  const stuck = spawn('sleep', ['987644'], { cwd: join(left, 'run', folder!) })
  const sandbox = createBubblewrapSandbox({ runRoot: join(left, 'run'), openCodeBinary: () => openCodeBinary, limits: () => defaultSandboxLimits, clock: { now: () => 7 }, ids: { next: (prefix) => `${prefix}_1` } })
  const gone = once(stuck, 'exit')
  await sandbox.endOrphans([])
  expect(await gone).toEqual([null, 'SIGKILL'])
})
