import { describe, expect, it } from 'vitest'
import type { CallId } from '../../src-preload/contract/ids.ts'
import { sayTurnEnded } from '../adapters/memory/scripted-coder.ts'
import { leadSays } from '../adapters/memory/scripted-room.ts'
import { askCommand, working, type InRoom } from './working-room.suite.ts'

const stop = ({ room, taskId }: InRoom) => room.give(taskId, { is: 'stop-task' })

describe('rows', () => {
  const bodies = ({ room, taskId }: InRoom) => room.engine.room.snapshot(taskId).put.flatMap((row) => (row.kind === 'entry' && row.author === 'coder' ? [row.body] : []))

  it('of a call and of words that were growing end when the process ends', async () => {
    const at = await working()
    const run = at.room.coder.run()
    run.say({ is: 'tool-pending', callId: 'call_1' as CallId, tool: 'write' })
    run.say({ is: 'text', partId: 'prt_1', reasoning: false, text: 'I was about to', done: false })
    await at.room.settle()
    expect(bodies(at)).toMatchObject([{ is: 'tool', state: 'preview' }, { is: 'message', streaming: true }])
    await stop(at)
    expect(bodies(at)).toMatchObject([{ is: 'tool', state: 'interrupted' }, { is: 'message', streaming: false, text: 'I was about to' }])
    run.say({ is: 'tool-pending', callId: 'call_2' as CallId, tool: 'write' })
    run.say({ is: 'text', partId: 'prt_2', reasoning: false, text: 'late', done: false })
    await at.room.settle()
    expect(bodies(at)).toHaveLength(2)
  })

  it('of a call that runs before its arguments are told show that it runs, and end in one record or with the turn', async () => {
    const at = await working({ lead: [leadSays.review] })
    const run = at.room.coder.run()
    const callId = 'call_1' as CallId
    for (const begun of [false, true]) for (const id of [callId, 'call_2' as CallId]) run.say({ is: 'tool-pending', callId: id, tool: 'write', target: begun ? '/workspace/a' : null, begun })
    run.say({ is: 'tool-pending', callId, tool: 'write' })
    await at.room.settle()
    expect(bodies(at)).toMatchObject([{ state: 'running', target: '/workspace/a', input: null }, { state: 'running' }])
    run.say({ is: 'tool-ended', callId, tool: 'write', outcome: 'done', input: { filePath: '/workspace/a' }, output: 'ok', title: 'a', exitCode: null })
    sayTurnEnded(run)
    await at.room.settle()
    const calls = bodies(at).filter((body) => body.is === 'tool')
    expect(calls.map((body) => `${body.callId} ${body.state}`).toSorted()).toEqual(['call_1 done', 'call_2 interrupted'])
  })

  it('keep the words that were growing when a turn ended', async () => {
    const at = await working({ lead: [leadSays.review] })
    const run = at.room.coder.run()
    run.say({ is: 'text', partId: 'prt_1', reasoning: false, text: 'Half a', done: false })
    sayTurnEnded(run)
    await at.room.settle()
    await at.room.restart()
    expect(bodies(at)).toContainEqual({ is: 'message', text: 'Half a', streaming: false, reasoning: false })
  })

  // `opencode run` asks nobody: its command is at the broker while it says that the call runs.
  it('of a command that waits at the broker say so and since when, until the owner has decided', async () => {
    const at = await working()
    const { room, taskId } = at
    const run = room.coder.run()
    const calls = () => bodies(at).flatMap((body) => (body.is === 'tool' ? [`${body.callId} ${body.state} ${body.waitsSince == null ? '' : 'since'}`] : []))
    const grows = (callId: string, text: string) => { room.gateway.preview({ taskId, sessionId: room.state(taskId).sessionId!, callId: callId as CallId, tool: 'bash', argumentBytes: 9, target: null, tail: text, tailOf: 'command', contentLines: null, before: null, fields: [], idUsedTwice: false, state: 'complete', seenAt: 1 }) }
    for (const [callId, text] of [['call_1', 'ls'], ['call_2', 'make']] as const) {
      grows(callId, text)
      run.say({ is: 'tool-pending', callId: callId as CallId, tool: 'bash', begun: true })
    }
    const answer = askCommand(room, 'make')
    await room.settle()
    expect(calls()).toEqual(['call_1 running ', 'call_2 awaiting-approval since'])
    // Another one, whose words are not known, can only be the other call.
    const other = askCommand(room, 'ls   -l', undefined, 'ask_2')
    await room.settle()
    expect(calls()).toEqual(['call_1 awaiting-approval since', 'call_2 awaiting-approval since'])
    const holds = [...room.state(taskId).holds.values()].filter(({ hold, outcome }) => outcome === 'waiting' && hold.subject.for === 'command')
    await room.decide(taskId, 'approved', holds[0]?.hold.approvalId)
    expect(await answer).toMatchObject({ verdict: 'run' })
    expect(calls()).toEqual(['call_1 awaiting-approval since', 'call_2 running '])
    await stop(at)
    expect(await other).toMatchObject({ verdict: 'refuse' })
    expect(calls()).toEqual(['call_1 interrupted ', 'call_2 interrupted '])
  })

  it('say nothing of a command that the task’s grant lets run, or of one that could be any of several', async () => {
    const at = await working()
    const run = at.room.coder.run()
    for (const callId of ['call_1', 'call_2']) run.say({ is: 'tool-pending', callId: callId as CallId, tool: 'bash', begun: true })
    expect(await askCommand(at.room, 'bun test')).toMatchObject({ verdict: 'run' })
    void askCommand(at.room, 'rm -rf .', undefined, 'ask_2')
    await at.room.settle()
    expect(bodies(at).map((body) => (body.is === 'tool' ? body.state : body.is))).toEqual(['running', 'running', 'hold'])
  })
})
