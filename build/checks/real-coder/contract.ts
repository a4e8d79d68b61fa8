import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { CoderRuntime } from '../../../src-preload/contract/task.ts'
import { bounded, eventually, openCoderBench, token, type CoderBench } from './coder-bench.ts'
import { isAlive } from './processes.ts'
import { prompt } from './scripted-provider.ts'

let bench: CoderBench

const bash = (command: string): { name: string; args: unknown } => ({ name: 'bash', args: { command, description: 'x' } })
const write = (content: string, gate?: string): { name: string; args: unknown; gate?: string } => ({ name: 'write', args: { filePath: '/workspace/a.txt', content }, ...(gate === undefined ? {} : { gate }) })

/** What the Coder port promises, however OpenCode is driven: on the real binary, in the real sandbox. A file for each way, since files run beside each other. */
export function coderContract(runtime: CoderRuntime): void {
  afterEach(async () => { await bench.close() })

  test.each(['chat', 'responses'] as const)('shows a call before its arguments have ended, with one final record, and goes on in the same session (%s)', bounded, async (api) => {
    bench = await openCoderBench(runtime)
    const run = await bench.start({ model: { api, modelId: 'vendor/some-model', contextTokens: 200_000, outputTokens: 32_000 } })
    expect(await run.findSession('A task')).toEqual({ ok: true, value: null })
    const sessionId = await bench.session(run)
    expect(await run.findSession('A task')).toEqual({ ok: true, value: { sessionId } })
    const content = 'x'.repeat(130_290)
    const first = await bench.submit(run, sessionId, prompt({ text: 'First a file.', tools: [write(content, 'half')] }, { text: 'Written.' }))
    const pending = await bench.next('tool-pending')
    expect(pending.tool).toBe('write')
    await expect.poll(() => bench.provider.held.has('half'), eventually).toBe(true)
    expect(bench.of('tool-running').concat(bench.of('tool-ended') as never)).toEqual([])
    bench.provider.openGate('half')
    expect(await bench.next('turn-ended')).toMatchObject({ messageId: first, outcome: 'completed', finish: 'stop', text: 'Written.', error: null })
    expect(bench.of('tool-ended')).toMatchObject([{ callId: pending.callId, tool: 'write', outcome: 'done', input: { filePath: '/workspace/a.txt', content } }])
    expect(await readFile(join(bench.workspaceDir, 'a.txt'), 'utf8')).toBe(content)
    expect(bench.of('text').filter(({ done }) => done).map(({ text }) => text)).toEqual(['First a file.', 'Written.'])

    const second = await bench.submit(run, sessionId, prompt({ text: 'Still here.' }))
    expect(await bench.next('turn-ended')).toMatchObject({ messageId: second, outcome: 'completed', text: 'Still here.' })
    expect(bench.of('turn-ended')).toHaveLength(2)
    expect(new Set(bench.provider.requests.map((seen) => `${seen.model} ${seen.authorization ?? ''} ${seen.path} ${seen.sessionId ?? ''}`))).toEqual(new Set([`vendor/some-model Bearer ${token} /v1/${api === 'chat' ? 'chat/completions' : 'responses'} ${sessionId}`]))
    expect(bench.provider.requests[0]?.system.split('\n')).toContain('You are Bot B, the coder.')
    const ids = bench.signals.map(({ signalId }) => signalId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('a refusal of the proxy fails the turn with its code, and the session works on', bounded, async () => {
    bench = await openCoderBench(runtime)
    const run = await bench.start()
    const sessionId = await bench.session(run)
    await bench.submit(run, sessionId, prompt({ refuse: { status: 402, body: { error: { code: 'budget_exhausted', message: 'No budget is left.', type: 'invalid_request_error' } } } }))
    expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'failed', errorCode: 'budget_exhausted', error: 'No budget is left. (HTTP 402)' })
    await bench.submit(run, sessionId, prompt({ text: 'cut', finish: 'length' }))
    expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'failed', finish: 'length' })
    await bench.submit(run, sessionId, prompt(
      { tools: [{ name: 'nosuchtool', args: {} }] }, { tools: [{ name: 'write', args: {}, raw: '{"filePath": 12' }] }, { tools: [{ name: 'write', args: { filePath: '/etc/x', content: 'x' } }] }, { text: 'I give up.' },
    ))
    expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'completed', text: 'I give up.' })
    expect(bench.of('tool-ended').map(({ tool, outcome }) => `${tool} ${outcome}`)).toEqual(['nosuchtool failed', 'write failed', 'write failed'])
    expect(bench.of('turn-ended')).toHaveLength(3)
  })

  test('an abort ends the turn, its rows, its command and a daemon of it; a second turn is not taken meanwhile, the next one is', bounded, async () => {
    bench = await openCoderBench(runtime)
    const word = `90${String(process.pid)}`
    const run = await bench.start()
    const sessionId = await bench.session(run)
    const messageId = await bench.submit(run, sessionId, prompt({ tools: [bash(`setsid sleep ${word} & echo started; sleep 100`)] }, { text: 'never said' }))
    expect(await run.submit({ sessionId, ...bench.coder.mintIds(Date.now()), text: 'more', system: '' })).toMatchObject({ ok: false, error: { code: 'too-busy' } })
    if (runtime === 'opencode-server') await run.answerPermission((await bench.next('permission-asked')).permissionId, { allow: true })
    await expect.poll(() => isAlive(`sleep\u0000${word}`), eventually).toBe(true)
    expect(await run.abort(sessionId)).toMatchObject({ ok: true, value: { observed: true } })
    expect(bench.of('turn-ended')).toMatchObject([{ messageId, outcome: 'aborted' }])
    expect(bench.of('tool-ended')).toMatchObject([{ tool: 'bash', outcome: 'interrupted' }])
    await expect.poll(() => isAlive(`sleep\u0000${word}`), eventually).toBe(false)
    expect(await run.abort(sessionId)).toMatchObject({ ok: true, value: { observed: true, how: expect.stringContaining('no turn was open') as string } })

    await bench.submit(run, sessionId, prompt({ text: 'still here' }))
    expect(await bench.next('turn-ended', ({ outcome }) => outcome !== 'aborted')).toMatchObject({ outcome: 'completed', text: 'still here' })
    expect(await run.stop()).toMatchObject({ method: 'pid-namespace-empty' })
    expect(bench.signals.at(-1)).toMatchObject({ is: 'exited' })
  })

  test('an abort while arguments are on their way leaves no file and no open row', bounded, async () => {
    bench = await openCoderBench(runtime)
    const run = await bench.start()
    const sessionId = await bench.session(run)
    await bench.submit(run, sessionId, prompt({ tools: [write('x'.repeat(500), 'half')] }))
    await bench.next('tool-pending')
    await expect.poll(() => bench.provider.held.has('half'), eventually).toBe(true)
    expect(await run.abort(sessionId)).toMatchObject({ ok: true, value: { observed: true } })
    expect(bench.of('tool-ended')).toMatchObject([{ tool: 'write', outcome: 'interrupted' }])
    expect(await readdir(bench.workspaceDir)).not.toContain('a.txt')
  })

  test('killed while a session is made, before anybody knows of it: the next one finds the one that history has, or makes the only one', bounded, async () => {
    bench = await openCoderBench(runtime)
    for (const seen of ['answered', 'cut off'] as const) {
      const title = `A task, ${seen}`
      const first = await bench.start()
      const creating = first.createSession(title)
      const made = seen === 'answered' ? await creating : null
      process.kill(first.pid, 'SIGKILL')
      const known = made ?? await creating
      await first.stop()

      const second = await bench.start()
      const found = await second.findSession(title)
      if (!found.ok) throw new Error(found.error.message)
      // What was answered is in history for certain; what was cut off may be.
      if (known.ok) expect(found.value).toEqual(known.value)
      const bound = found.value === null ? await second.createSession(title) : found
      if (!bound.ok) throw new Error(bound.error.message)
      expect(await second.findSession(title)).toEqual({ ok: true, value: bound.value })
      await second.stop()
    }
  })

  test('killed in a turn it settles its rows and says that it exited; the next one finds the session and what became of each turn', bounded, async () => {
    bench = await openCoderBench(runtime)
    const first = await bench.start()
    const sessionId = await bench.session(first)
    const done = await bench.submit(first, sessionId, prompt({ text: 'first answer' }))
    await bench.next('turn-ended')
    const broken = await bench.submit(first, sessionId, prompt({ tools: [write('x'.repeat(500), 'half')] }))
    await expect.poll(() => bench.provider.held.has('half'), eventually).toBe(true)
    await bench.next('tool-pending')
    process.kill(first.pid, 'SIGKILL')
    await bench.next('exited')
    expect(bench.signals.slice(-2).map(({ is }) => is)).toEqual(['tool-ended', 'exited'])
    expect(bench.of('tool-ended')).toMatchObject([{ tool: 'write', outcome: 'interrupted' }])
    expect(bench.of('turn-ended').map(({ messageId }) => messageId)).toEqual([done])
    expect(await first.stop()).toMatchObject({ method: 'pid-namespace-empty' })
    expect(await first.submit({ sessionId, ...bench.coder.mintIds(Date.now()), text: 'more', system: '' })).toMatchObject({ ok: false })

    const second = await bench.start()
    expect(await second.findSession('A task')).toEqual({ ok: true, value: { sessionId } })
    expect(await second.findSession('A tas')).toEqual({ ok: true, value: null })
    expect(await second.reconcile(sessionId, done)).toEqual({ ok: true, value: { found: true, state: 'completed', text: 'first answer' } })
    expect(await second.reconcile(sessionId, broken)).toMatchObject({ ok: true, value: { found: true, state: 'interrupted' } })
    expect(await second.reconcile(sessionId, bench.coder.mintIds(Date.now()).messageId)).toEqual({ ok: true, value: { found: false, state: 'absent', text: '' } })
    const again = await bench.submit(second, sessionId, prompt({ text: 'second answer' }))
    expect(await bench.next('turn-ended')).toMatchObject({ messageId: again, outcome: 'completed', text: 'second answer' })
  })
}
