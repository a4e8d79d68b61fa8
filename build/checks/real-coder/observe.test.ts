import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { bounded, eventually, openCoderBench, type CoderBench } from './coder-bench.ts'
import { prompt } from './scripted-provider.ts'

let bench: CoderBench
afterEach(async () => { await bench.close() })

const bash = (command: string): { name: string; args: unknown } => ({ name: 'bash', args: { command, description: 'x' } })

describe('permissions', () => {
  test('a denial with a reason reaches the model, and the turn goes on', bounded, async () => {
    bench = await openCoderBench()
    const run = await bench.start()
    await bench.submit(run, await bench.session(run), prompt({ tools: [bash('rm -rf src')] }, { text: 'Understood.' }))
    await run.answerPermission((await bench.next('permission-asked')).permissionId, { allow: false, message: 'Not this one.' })
    expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'completed', text: 'Understood.' })
    expect(bench.of('tool-ended')).toMatchObject([{ outcome: 'failed', output: expect.stringContaining('Not this one.') as string }])
    expect(bench.of('permission-replied')).toEqual([])
    expect(bench.asks).toEqual([])
  })

  test('one of several asks is denied without taking the others along', bounded, async () => {
    bench = await openCoderBench()
    const run = await bench.start()
    await bench.submit(run, await bench.session(run), prompt({ tools: [bash('echo one'), bash('echo two'), bash('echo three')] }, { text: 'Understood.' }))
    const asks = [await bench.next('permission-asked'), await bench.next('permission-asked'), await bench.next('permission-asked')]
    const idOf = (command: string): string => asks.find((ask) => ask.command === command)?.permissionId ?? ''
    expect(await run.answerPermission(idOf('echo two'), { allow: false, message: 'Not two.' })).toMatchObject({ ok: true })
    expect(await bench.next('tool-ended')).toMatchObject({ outcome: 'failed', output: expect.stringContaining('Not two.') as string })
    expect(await run.answerPermission(idOf('echo one'), { allow: true })).toMatchObject({ ok: true })
    await bench.next('tool-ended')
    expect(await run.answerPermission(idOf('echo three'), { allow: false, message: 'Not three.' })).toMatchObject({ ok: true })
    expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'completed', text: 'Understood.' })
    expect(bench.of('tool-ended').map(({ outcome, output }) => `${outcome} ${output.trim().split('\n')[0]?.slice(-40) ?? ''}`)).toEqual(['failed sandbox: refused: Not two.', 'done one', expect.stringContaining('Not three.') as string])
    // The host was asked about the one that was approved, and ran no other.
    expect(bench.asks.map(({ text }) => text)).toEqual(['echo one'])
    expect(bench.runs.filter(({ refused }) => refused === null).map(({ text }) => text)).toEqual(['echo one'])
    expect(bench.of('permission-replied')).toEqual([])
  })

  test('an edit that is asked for shows its file and its diff; nothing is written before the answer', bounded, async () => {
    bench = await openCoderBench()
    const run = await bench.start({ permissions: { edit: 'ask', bash: 'deny' } })
    const sessionId = await bench.session(run)
    await bench.submit(run, sessionId, prompt({ tools: [{ name: 'write', args: { filePath: '/workspace/a.txt', content: 'one\ntwo\n' } }] }, { text: 'Written.' }))
    const ask = await bench.next('permission-asked')
    expect(ask).toMatchObject({ permission: 'edit', command: null, files: [{ path: '/workspace/a.txt', real: '/workspace/a.txt' }], diff: expect.stringContaining('+two') as string })
    await expect(readFile(join(bench.workspaceDir, 'a.txt'))).rejects.toMatchObject({ code: 'ENOENT' })
    await run.answerPermission(ask.permissionId, { allow: true })
    expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'completed' })
    expect(await readFile(join(bench.workspaceDir, 'a.txt'), 'utf8')).toBe('one\ntwo\n')
    expect(bench.provider.requests[0]?.tools).not.toContain('bash')
  })

  test('somebody else’s answer is told', bounded, async () => {
    bench = await openCoderBench()
    const run = await bench.start()
    const sessionId = await bench.session(run)
    await bench.submit(run, sessionId, prompt({ tools: [bash('echo foreign')] }, { text: 'x' }))
    const ask = await bench.next('permission-asked')
    expect(await bench.foreign('POST', `/permission/${ask.permissionId}/reply`, { reply: 'once' })).toMatchObject({ status: 200 })
    expect(await bench.next('permission-replied')).toMatchObject({ permissionId: ask.permissionId, reply: 'once', sessionId })
  })

  test('a command that the host refuses at its execution fails with the reason', bounded, async () => {
    bench = await openCoderBench()
    bench.verdict = () => Promise.resolve({ verdict: 'refuse', reason: 'no grant for this' })
    const run = await bench.start()
    await bench.submit(run, await bench.session(run), prompt({ tools: [bash('echo hi')] }, { text: 'x' }))
    await run.answerPermission((await bench.next('permission-asked')).permissionId, { allow: true })
    await bench.next('turn-ended')
    expect(bench.of('tool-ended')).toMatchObject([{ tool: 'bash', exitCode: 126, output: expect.stringContaining('no grant for this') as string }])
  })
})

describe('a broken event stream', () => {
  test('is opened again, and what was missed is told, once', bounded, async () => {
    bench = await openCoderBench()
    const run = await bench.start()
    const sessionId = await bench.session(run)
    const messageId = await bench.submit(run, sessionId, prompt({ tools: [{ name: 'write', args: { filePath: '/workspace/a.txt', content: 'x' }, gate: 'half' }] }, { tools: [bash('echo missed')] }, { text: 'The end.' }))
    await bench.next('tool-pending')
    await expect.poll(() => bench.provider.held.has('half'), eventually).toBe(true)
    bench.control().cut()
    bench.provider.openGate('half')
    // Everything up to the next ask happens while nobody listens.
    await expect.poll(async () => (await bench.foreign('GET', '/permission')).body, eventually).toHaveLength(1)
    expect(bench.of('permission-asked')).toEqual([])
    bench.control().mend()
    const ask = await bench.next('permission-asked')
    expect(ask).toMatchObject({ command: 'echo missed' })
    expect(bench.of('tool-ended')).toMatchObject([{ tool: 'write', outcome: 'done' }])
    await run.answerPermission(ask.permissionId, { allow: true })
    expect(await bench.next('turn-ended')).toMatchObject({ messageId, outcome: 'completed', text: 'The end.' })
    const ids = bench.signals.map(({ signalId }) => signalId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('that hides the end of a turn hides it for seconds only', bounded, async () => {
    bench = await openCoderBench()
    const run = await bench.start()
    const sessionId = await bench.session(run)
    await bench.submit(run, sessionId, prompt({ tools: [{ name: 'write', args: { filePath: '/workspace/a.txt', content: 'x' }, gate: 'half' }] }, { text: 'The end.' }))
    await expect.poll(() => bench.provider.held.has('half'), eventually).toBe(true)
    bench.control().cut()
    bench.provider.openGate('half')
    await expect.poll(async () => (await bench.foreign('GET', '/session/status')).body, eventually).toEqual({})
    bench.control().mend()
    expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'completed', text: 'The end.' })
    expect(bench.of('text').filter(({ done }) => done).map(({ text }) => text)).toEqual(['The end.'])
  })
})
