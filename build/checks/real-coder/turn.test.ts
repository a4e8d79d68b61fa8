import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { bounded, eventually, openCoderBench, token, type CoderBench } from './coder-bench.ts'
import { prompt } from './scripted-provider.ts'

let bench: CoderBench
afterEach(async () => { await bench.close() })

const question = { name: 'question', args: { questions: [{ question: 'Which side?', header: 'Side', options: [{ label: 'Left', description: 'l' }, { label: 'Right', description: 'r' }] }] } }

describe.each(['chat', 'responses'] as const)('a turn over the %s API', (api) => {
  test('writes, runs a granted command, asks and goes on, and ends once', bounded, async () => {
    bench = await openCoderBench()
    const run = await bench.start({ model: { api, modelId: 'vendor/some-model', contextTokens: 200_000, outputTokens: 32_000 } })
    const sessionId = await bench.session(run)
    const messageId = await bench.submit(run, sessionId, prompt(
      { text: 'First a file.', tools: [{ name: 'write', args: { filePath: '/workspace/src/a.txt', content: 'hello\n' }, gate: 'half' }] },
      { tools: [{ name: 'bash', args: { command: 'cat src/a.txt; exit 3', description: 'Reads' } }] },
      { tools: [question] },
      { text: 'All done.' },
    ))
    // The red line: the call is visible while its arguments are still on their way.
    const pending = await bench.next('tool-pending')
    expect(pending.tool).toBe('write')
    await expect.poll(() => bench.provider.held.has('half'), eventually).toBe(true)
    expect(bench.of('tool-running')).toEqual([])
    bench.provider.openGate('half')

    const ask = await bench.next('permission-asked')
    expect(ask).toMatchObject({ permission: 'bash', command: 'cat src/a.txt; exit 3', workdir: null, sessionId })
    expect(bench.of('tool-running').map(({ tool }) => tool)).toEqual(['write', 'bash'])
    expect(await readFile(join(bench.workspaceDir, 'src/a.txt'), 'utf8')).toBe('hello\n')
    expect(bench.asks).toEqual([])
    expect(await run.answerPermission(ask.permissionId, { allow: true })).toEqual({ ok: true, value: null })

    const asked = await bench.next('question-asked')
    expect(asked.questions).toEqual([{ question: 'Which side?', header: 'Side', options: ['Left', 'Right'], multiple: false }])
    expect(await run.answerQuestion(asked.questionId, [['Right']])).toEqual({ ok: true, value: null })

    const end = await bench.next('turn-ended')
    expect(end).toMatchObject({ messageId, outcome: 'completed', finish: 'stop', text: 'All done.', error: null })
    expect(bench.asks).toMatchObject([{ text: 'cat src/a.txt; exit 3', cwd: '/workspace' }])
    expect(bench.of('tool-ended')).toMatchObject([{ tool: 'write', outcome: 'done' }, { tool: 'bash', outcome: 'done', exitCode: 3, output: 'hello\n' }, { tool: 'question', outcome: 'done' }])
    expect(bench.of('text').filter(({ done }) => done).map(({ text }) => text)).toEqual(['First a file.', 'All done.'])
    expect(bench.of('permission-replied')).toEqual([])
    expect(bench.of('turn-ended')).toHaveLength(1)
    // On the wire: the real model id, this task's token, the session's id, and exactly the allowed tools.
    expect(new Set(bench.provider.requests.map(({ model, authorization, path }) => `${model} ${authorization ?? ''} ${path}`))).toEqual(new Set([`vendor/some-model Bearer ${token} /v1/${api === 'chat' ? 'chat/completions' : 'responses'}`]))
    expect(bench.provider.requests).toHaveLength(4)
    expect(bench.provider.requests[0]).toMatchObject({ sessionId, tools: ['bash', 'edit', 'glob', 'grep', 'question', 'read', 'write'] })
    expect(bench.provider.requests[0]?.system.split('\n')).toContain('You are Bot B, the coder.')
  })
})

describe('a model whose id OpenCode takes for a GPT', () => {
  test('is given apply_patch in the place of write and edit, under the same permission', bounded, async () => {
    bench = await openCoderBench()
    const run = await bench.start({ model: { api: 'chat', modelId: 'vendor/gpt-5', contextTokens: 200_000, outputTokens: 32_000 }, permissions: { edit: 'ask', bash: 'ask' } })
    const patchText = '*** Begin Patch\n*** Add File: a.txt\n+hello\n*** Add File: src/b.txt\n+there\n*** End Patch'
    await bench.submit(run, await bench.session(run), prompt({ tools: [{ name: 'apply_patch', args: { patchText } }] }, { text: 'Patched.' }))
    const ask = await bench.next('permission-asked')
    expect(ask).toMatchObject({ permission: 'edit', files: [{ path: '/workspace/a.txt' }, { path: '/workspace/src/b.txt' }], diff: expect.stringContaining('+hello') as string })
    await run.answerPermission(ask.permissionId, { allow: true })
    expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'completed' })
    expect(await readFile(join(bench.workspaceDir, 'a.txt'), 'utf8')).toBe('hello\n')
    expect(bench.provider.requests[0]).toMatchObject({ model: 'vendor/gpt-5', tools: ['apply_patch', 'bash', 'glob', 'grep', 'question', 'read'] })
  })
})
