import { expect, test } from 'vitest'
import { isolationReportSchema } from '../../../src-preload/contract/task.ts'
import { unavailableSandbox } from './unavailable-sandbox.ts'

test.each([['win32', 'none', /Windows.*untested.*nothing starts it/], ['darwin', 'seatbelt-untested', /macOS.*untested.*nothing starts it/], ['freebsd', 'none', /this system/]] as const)('on %s nothing runs and the reason is said', async (platform, level, reason) => {
  const sandbox = unavailableSandbox(platform, { now: () => 5 })
  const report = isolationReportSchema.parse(await sandbox.probe())
  expect(report).toMatchObject({ usable: false, level, checkedAt: 5 })
  expect(report.failure?.message).toMatch(reason)
  const run = await sandbox.run({ workspaceDir: '/', text: 'true', cwd: '/workspace', mounts: [], timeoutMs: 1, outputBytesMax: 1, readOnly: [] }, new AbortController().signal)
  expect(run.ok).toBe(false)
})
