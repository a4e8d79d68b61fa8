import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { closable, type ClosableSandbox } from './closable-sandbox.ts'
import { openBench, type Bench } from './sandbox.suite.ts'

let bench: Bench
let sandbox: ClosableSandbox
beforeEach(() => {
  bench = openBench()
  sandbox = closable(bench.sandbox, { now: () => 7 })
})
afterEach(() => bench.close())

test('resolves only when a sandbox that is being set up has ended', async () => {
  const probing = sandbox.probe()
  await sandbox.close()
  expect(readdirSync(bench.runRoot)).toEqual([])
  expect(await probing).toMatchObject({ usable: true })
})

test('starts nothing after it was closed', async () => {
  await sandbox.close()
  expect(await sandbox.probe()).toMatchObject({ usable: false, checkedAt: 7, failure: { code: 'cancelled' } })
  expect(await sandbox.run({ workspaceDir: bench.workspaceDir, text: 'touch x', cwd: '/workspace', mounts: [], timeoutMs: 1_000, outputBytesMax: 100, readOnly: [] }, new AbortController().signal)).toMatchObject({ ok: false, error: { code: 'cancelled' } })
  expect(readdirSync(bench.workspaceDir)).toEqual([])
})
