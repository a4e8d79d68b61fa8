import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { AgentSpec } from '../../../src-main/engine/ports.ts'
import { openCoderBench, type CoderBench } from './coder-bench.ts'
import { prompt, type Step } from './scripted-provider.ts'

let bench: CoderBench
afterEach(async () => { await bench.close() })

const bash = (command: string): NonNullable<Step['tools']>[number] => ({ name: 'bash', args: { command, description: 'x' } })
const subagent = (...steps: readonly Step[]): NonNullable<Step['tools']>[number] => ({ name: 'task', args: { description: 'A part of it', prompt: prompt(...steps), subagent_type: 'general' } })

/** Tasks deny subagents. Here one is let through, as an OpenCode whose permissions work otherwise would. */
function withSubagents(spec: AgentSpec): AgentSpec {
  const config = JSON.parse(spec.env['OPENCODE_CONFIG_CONTENT'] ?? '{}') as { permission: Record<string, string> }
  return { ...spec, env: { ...spec.env, OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...config, permission: { ...config.permission, task: 'allow' } }) } }
}

describe('a subagent', () => {
  test('has its calls under the call that began it, each with one end; what it asks is answered, and says by whose call it works', { timeout: 200_000 }, async () => {
    bench = await openCoderBench()
    bench.changeLaunch = withSubagents
    const run = await bench.start()
    const sessionId = await bench.session(run)
    await bench.submit(run, sessionId, prompt({ text: 'I hand it on.', tools: [subagent(
      { tools: [{ name: 'write', args: { filePath: '/workspace/a.txt', content: 'of the subagent\n' } }] }, { tools: [bash('cat a.txt')] }, { text: 'My part is done.' },
    )] }, { text: 'All is done.' }))
    const ask = await bench.next('permission-asked')
    const began = bench.of('tool-running').find(({ tool }) => tool === 'task')
    expect(began).toMatchObject({ sessionId, parentSessionId: null })
    expect(began).not.toHaveProperty('parentCallId')
    expect(ask).toMatchObject({ permission: 'bash', command: 'cat a.txt', parentSessionId: sessionId, parentCallId: began?.callId })
    expect(ask.sessionId).not.toBe(sessionId)
    expect(bench.of('tool-running').find(({ callId }) => callId === ask.callId)).toMatchObject({ tool: 'bash', sessionId: ask.sessionId })
    expect(await run.answerPermission(ask.permissionId, { allow: true })).toEqual({ ok: true, value: null })
    expect(await bench.next('turn-ended')).toMatchObject({ sessionId, outcome: 'completed', text: 'All is done.' })
    expect(bench.asks).toMatchObject([{ text: 'cat a.txt', cwd: '/workspace' }])
    expect(await readFile(join(bench.workspaceDir, 'a.txt'), 'utf8')).toBe('of the subagent\n')
    const ofSubagent = { parentSessionId: sessionId, parentCallId: began?.callId }
    expect(bench.of('tool-ended')).toMatchObject([{ tool: 'write', outcome: 'done', ...ofSubagent }, { tool: 'bash', outcome: 'done', output: 'of the subagent\n', ...ofSubagent }, { tool: 'task', outcome: 'done', callId: began?.callId }])
    // From its first word on: a row that was drawn elsewhere first would jump.
    for (const signal of bench.signals) if (signal.sessionId === ask.sessionId && (signal.is === 'tool-pending' || signal.is === 'tool-running' || signal.is === 'tool-ended')) expect([signal.is, signal.parentCallId]).toEqual([signal.is, began?.callId])
    expect(bench.of('turn-ended')).toHaveLength(1)
  })

  test('that is aborted while it asks takes the turn along, though OpenCode would go on with it', { timeout: 200_000 }, async () => {
    bench = await openCoderBench()
    bench.changeLaunch = withSubagents
    const run = await bench.start()
    const sessionId = await bench.session(run)
    await bench.submit(run, sessionId, prompt({ tools: [subagent({ tools: [bash('echo one')] }, { text: 'Done.' })] }, { text: 'I go on.', tools: [{ name: 'write', args: { filePath: '/workspace/a.txt', content: 'x' }, gate: 'never' }] }))
    const ask = await bench.next('permission-asked')
    expect(await run.abort(sessionId)).toMatchObject({ ok: true, value: { observed: true } })
    expect(await bench.next('turn-ended')).toMatchObject({ sessionId, outcome: 'aborted' })
    const ends = bench.of('tool-ended')
    expect(ends.map(({ tool, outcome }) => `${tool} ${outcome}`).filter((end) => !end.startsWith('write')).toSorted()).toEqual(['bash interrupted', 'task interrupted'])
    for (const { callId } of bench.of('tool-pending')) expect([callId, ends.filter((end) => end.callId === callId).length]).toEqual([callId, 1])
    expect(ends.find(({ tool }) => tool === 'bash')?.callId).toBe(ask.callId)
    expect(bench.asks).toEqual([])
  })

  test('is not there for a task: a call of it fails, and the turn goes on', { timeout: 200_000 }, async () => {
    bench = await openCoderBench()
    const run = await bench.start()
    const sessionId = await bench.session(run)
    await bench.submit(run, sessionId, prompt({ tools: [subagent({ tools: [bash('echo one')] })] }, { text: 'Then alone.' }))
    expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'completed', text: 'Then alone.' })
    expect(bench.of('tool-ended').map(({ tool, outcome, sessionId: of }) => [tool, outcome, of])).toEqual([['task', 'failed', sessionId]])
    expect(bench.provider.requests.flatMap(({ tools }) => tools)).not.toContain('task')
  })
})
