import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { endRecorded } from './orphans.ts'
import { holdNamespace } from './pid-namespace.ts'
import { readProcess } from './process-table.ts'

const started: ChildProcess[] = []
const left: number[] = []
afterEach(async () => {
  // The first process of a namespace, which takes its daemons along, outlives the bwrap that we started.
  for (const pid of left.splice(0)) if (await alive(pid)) process.kill(pid, 'SIGKILL')
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

/** A sandbox as a run without a parent-death signal would leave it: first process of its own namespace, with a daemon. */
async function leaveSandbox(): Promise<{ readonly pid: number; readonly startTime: string }> {
  const child = spawn('bwrap', ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc', '--info-fd', '3', '--', '/bin/sh', '-c', 'setsid sleep 987647 & sleep 987647'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] })
  started.push(child)
  const [info] = (await once(child.stdio[3] as NodeJS.ReadableStream, 'data')) as [Buffer]
  const pid = Number(/"child-pid": (\d+)/.exec(info.toString())?.[1])
  left.push(pid)
  const found = await readProcess(pid)
  if (found === null) throw new Error('did not start')
  return { pid, startTime: found.startTime }
}

async function alive(pid: number): Promise<boolean> {
  const found = await readProcess(pid)
  return found !== null && found.state !== 'Z'
}

test('ends a sandbox that an earlier run left, with its daemons, and proves it', async () => {
  const sandbox = await leaveSandbox()
  const namespace = await holdNamespace(sandbox.pid)
  const proof = await endRecorded([sandbox], () => 42)
  expect(proof).toMatchObject({ at: 42, method: 'orphans-ended', detail: '1 recorded, 1 still there and ended, 0 gone already.' })
  expect(proof.checkedProcesses).toBeGreaterThan(0)
  expect((await namespace?.members())?.pids).toEqual([])
  await namespace?.release()
})

test('leaves a process alone that only has the number', async () => {
  const sandbox = await leaveSandbox()
  expect(await endRecorded([{ pid: sandbox.pid, startTime: '1' }], () => 0)).toMatchObject({ detail: '1 recorded, 0 still there and ended, 1 gone already.' })
  expect(await alive(sandbox.pid)).toBe(true)
})

test('leaves a process alone that is not the first of a sandbox, whatever was recorded', async () => {
  const child = spawn('sleep', ['987646'])
  started.push(child)
  await once(child, 'spawn')
  const pid = child.pid ?? 0
  const found = await readProcess(pid)
  await endRecorded([{ pid, startTime: found?.startTime ?? '' }], () => 0)
  expect(await alive(pid)).toBe(true)
})

test('takes what is gone for gone', async () => {
  const child = spawn('true')
  const pid = child.pid ?? 0
  await once(child, 'exit')
  expect(await endRecorded([{ pid, startTime: '5' }], () => 0)).toMatchObject({ checkedProcesses: 0, detail: '1 recorded, 0 still there and ended, 1 gone already.' })
  expect(await endRecorded([], () => 0)).toMatchObject({ method: 'orphans-ended', detail: '0 recorded, 0 still there and ended, 0 gone already.' })
})
