import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { seatbeltOnStandIn } from '../../../src-main/adapters/sandbox/seatbelt-bench.suite.ts'
import { bounded, eventually, openCoderBench, type CoderBench } from './coder-bench.ts'
import { isAlive } from './processes.ts'
import { prompt } from './scripted-provider.ts'

/** The real OpenCode as macOS would start it: at real paths, with a stand-in for sandbox-exec. That a Mac keeps to the profile, nothing here can show. */
let bench: CoderBench
afterEach(async () => { await bench.close() })

test('OpenCode works at the paths that its folders really have, and the room names them as everywhere', bounded, async () => {
  bench = await openCoderBench('opencode-server', seatbeltOnStandIn)
  const at = (name: string): string => join(bench.workspaceDir, name)
  // What a workspace must not set, and what cannot be read where it is masked, keeps nobody from starting.
  await mkdir(at('.opencode/plugin'), { recursive: true })
  await writeFile(at('.opencode/plugin/p.js'), `require('fs').writeFileSync('${at('ran')}', '')`)
  await writeFile(at('opencode.json'), '{"shell":"/bin/sh"}')
  await mkdir(at('sub'))
  const run = await bench.start({ permissions: { edit: 'ask', bash: 'ask' } })
  expect(run.isolation.level).toBe('seatbelt-untested')
  const sessionId = await bench.session(run)
  await bench.submit(run, sessionId, prompt(
    { tools: [{ name: 'write', args: { filePath: at('sub/a.txt'), content: 'one\n' } }] },
    { tools: [{ name: 'bash', args: { command: 'pwd; cat a.txt; echo two >> a.txt', description: 'x', workdir: at('sub') } }] },
    { tools: [{ name: 'grep', args: { pattern: 'two' } }] },
    { tools: [{ name: 'read', args: { filePath: at('opencode.json') } }] },
    { text: 'Done.' },
  ))
  const edit = await bench.next('permission-asked')
  expect(edit).toMatchObject({ permission: 'edit', files: [{ path: '/workspace/sub/a.txt', real: '/workspace/sub/a.txt' }] })
  await run.answerPermission(edit.permissionId, { allow: true })
  const command = await bench.next('permission-asked', ({ permission }) => permission === 'bash')
  expect(command).toMatchObject({ command: 'pwd; cat a.txt; echo two >> a.txt', workdir: '/workspace/sub' })
  await run.answerPermission(command.permissionId, { allow: true })
  expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'completed', text: 'Done.' })
  const ended = bench.of('tool-ended')
  expect(ended.map(({ tool, outcome }) => `${tool} ${outcome}`)).toEqual(['write done', 'bash done', 'grep done', 'read failed'])
  expect(ended[1]?.output).toContain(`${at('sub')}\none\n`)
  expect(ended[2]?.output).toContain('two')
  expect(bench.runs).toMatchObject([{ cwd: '/workspace/sub', exitCode: 0 }])
  expect(await readFile(at('sub/a.txt'), 'utf8')).toBe('one\ntwo\n')
  expect(await run.stop()).toMatchObject({ method: 'seatbelt-empty' })
})

test('a stop in the middle of a command ends it with its daemons, and a second start goes on with the session', bounded, async () => {
  bench = await openCoderBench('opencode-server', seatbeltOnStandIn)
  const word = `91${String(process.pid)}`
  const run = await bench.start()
  const sessionId = await bench.session(run)
  await bench.submit(run, sessionId, prompt({ tools: [{ name: 'bash', args: { command: `setsid sleep ${word} & sleep 100`, description: 'x' } }] }, { text: 'never said' }))
  await run.answerPermission((await bench.next('permission-asked')).permissionId, { allow: true })
  await expect.poll(() => isAlive(`sleep\u0000${word}`), eventually).toBe(true)
  expect(await run.stop()).toMatchObject({ method: 'seatbelt-empty' })
  expect(await isAlive(`sleep\u0000${word}`)).toBe(false)
  const again = await bench.start()
  expect(await again.findSession('A task')).toEqual({ ok: true, value: { sessionId } })
  await bench.submit(again, sessionId, prompt({ text: 'still here' }))
  expect(await bench.next('turn-ended', ({ outcome }) => outcome === 'completed')).toMatchObject({ text: 'still here' })
})
