import { afterEach, describe, expect, test } from 'vitest'
import { bounded, openCoderBench, type CoderBench } from './coder-bench.ts'
import { prompt } from './scripted-provider.ts'

let bench: CoderBench
afterEach(async () => { await bench.close() })

const bash = (command: string): { name: string; args: unknown } => ({ name: 'bash', args: { command, description: 'x' } })

describe('an abort', () => {
  test('clears the asks and questions that it leaves behind, and none of that looks foreign', bounded, async () => {
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
})
