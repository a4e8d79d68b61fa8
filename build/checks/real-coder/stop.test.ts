import { readdir, readFile } from 'node:fs/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { eventually, openCoderBench, type CoderBench } from './coder-bench.ts'
import { prompt } from './scripted-provider.ts'

let bench: CoderBench
afterEach(async () => { await bench.close() })

/** Whether a process with this word in its command line lives anywhere on the machine. */
async function isAlive(word: string): Promise<boolean> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (line.includes(word)) return true
  }
  return false
}

const bash = (command: string): { name: string; args: unknown } => ({ name: 'bash', args: { command, description: 'x' } })

describe('an abort', () => {
  test('in the middle of a command ends the turn, its rows and a daemon that the command left, and the stop proves it', { timeout: 120_000 }, async () => {
    bench = await openCoderBench()
    const run = await bench.start()
    const sessionId = await bench.session(run)
    const messageId = await bench.submit(run, sessionId, prompt({ tools: [bash('setsid sleep 7654 & echo started; sleep 100')] }, { text: 'never said' }))
    const ask = await bench.next('permission-asked')
    await run.answerPermission(ask.permissionId, { allow: true })
    await bench.next('tool-running', ({ output }) => output?.includes('started') === true)
    expect(await isAlive('sleep\u00007654')).toBe(true)

    expect(await run.abort(sessionId)).toMatchObject({ ok: true, value: { observed: true, how: expect.stringContaining('history says aborted') as string } })
    // When the abort has returned, everything has been told.
    expect(bench.of('turn-ended')).toMatchObject([{ messageId, outcome: 'aborted' }])
    expect(bench.of('tool-ended')).toMatchObject([{ tool: 'bash', outcome: 'interrupted' }])
    await expect.poll(() => isAlive('sleep\u00007654'), eventually).toBe(false)

    expect(await run.stop()).toMatchObject({ method: 'pid-namespace-empty' })
    expect(bench.signals.at(-1)).toMatchObject({ is: 'exited' })
  })

  test('clears the asks and questions that it leaves behind, and none of that looks foreign', { timeout: 120_000 }, async () => {
    bench = await openCoderBench()
    const run = await bench.start()
    const sessionId = await bench.session(run)
    await bench.submit(run, sessionId, prompt({ tools: [bash('sleep 5')] }))
    const ask = await bench.next('permission-asked')
    expect(await run.abort(sessionId)).toMatchObject({ ok: true, value: { observed: true } })
    expect((await bench.foreign('GET', '/permission')).body).toEqual([])
    expect(await run.answerPermission(ask.permissionId, { allow: true })).toMatchObject({ ok: false, error: { code: 'unknown-approval' } })
    expect(bench.asks).toEqual([])

    await bench.submit(run, sessionId, prompt({ tools: [{ name: 'question', args: { questions: [{ question: 'Q?', header: 'H', options: [{ label: 'A', description: 'a' }] }] } }] }))
    const question = await bench.next('question-asked')
    expect(await run.abort(sessionId)).toMatchObject({ ok: true, value: { observed: true } })
    expect((await bench.foreign('GET', '/question')).body).toEqual([])
    expect(await run.answerQuestion(question.questionId, [['A']])).toMatchObject({ ok: false, error: { code: 'unknown-approval' } })

    // The session works on after both.
    await bench.submit(run, sessionId, prompt({ text: 'still here' }))
    expect(await bench.next('turn-ended', ({ outcome }) => outcome !== 'aborted')).toMatchObject({ outcome: 'completed', text: 'still here' })
    expect(bench.of('turn-ended').map(({ outcome }) => outcome)).toEqual(['aborted', 'aborted', 'completed'])
    expect(bench.of('permission-replied')).toEqual([])
  })

  test('while arguments are on their way leaves no file and no open row', { timeout: 120_000 }, async () => {
    bench = await openCoderBench()
    const run = await bench.start()
    const sessionId = await bench.session(run)
    await bench.submit(run, sessionId, prompt({ tools: [{ name: 'write', args: { filePath: '/workspace/a.txt', content: 'x'.repeat(500) }, gate: 'half' }] }))
    await bench.next('tool-pending')
    await expect.poll(() => bench.provider.held.has('half'), eventually).toBe(true)
    expect(await run.abort(sessionId)).toMatchObject({ ok: true, value: { observed: true } })
    expect(bench.of('tool-ended')).toMatchObject([{ tool: 'write', outcome: 'interrupted' }])
    expect(await readdir(bench.workspaceDir)).not.toContain('a.txt')
    // Nothing is open: an abort of an idle session is observed at once.
    expect(await run.abort(sessionId)).toMatchObject({ ok: true, value: { observed: true, how: expect.stringContaining('no turn was open') as string } })
  })
})

describe('an agent that is killed in a turn', () => {
  test('settles its rows, says that it exited, and the next one finds the session and what became of the turn', { timeout: 120_000 }, async () => {
    bench = await openCoderBench()
    const first = await bench.start()
    const sessionId = await bench.session(first)
    const done = await bench.submit(first, sessionId, prompt({ text: 'first answer' }))
    await bench.next('turn-ended')
    const broken = await bench.submit(first, sessionId, prompt({ tools: [bash('sleep 100')] }))
    await bench.next('permission-asked')
    process.kill(first.pid, 'SIGKILL')
    await bench.next('exited')
    expect(bench.of('tool-ended')).toMatchObject([{ tool: 'bash', outcome: 'interrupted' }])
    expect(bench.signals.slice(-2).map(({ is }) => is)).toEqual(['tool-ended', 'exited'])
    expect(bench.of('turn-ended').map(({ messageId }) => messageId)).toEqual([done])
    expect(await first.stop()).toMatchObject({ method: 'pid-namespace-empty' })
    expect(await first.answerPermission('per_1', { allow: true })).toMatchObject({ ok: false })

    const second = await bench.start()
    expect(await second.findSession('A task')).toEqual({ ok: true, value: { sessionId } })
    expect(await second.findSession('A tas')).toEqual({ ok: true, value: null })
    expect(await second.reconcile(sessionId, done)).toEqual({ ok: true, value: { found: true, state: 'completed', text: 'first answer' } })
    expect(await second.reconcile(sessionId, broken)).toMatchObject({ ok: true, value: { found: true, state: 'interrupted' } })
    expect(await second.reconcile(sessionId, bench.coder.mintIds(Date.now()).messageId)).toEqual({ ok: true, value: { found: false, state: 'absent', text: '' } })

    const again = await bench.submit(second, sessionId, prompt({ text: 'second answer' }))
    expect(await bench.next('turn-ended')).toMatchObject({ messageId: again, outcome: 'completed', text: 'second answer' })
  })
})
