import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CallId, TaskId } from '../../src-preload/contract/ids.ts'
import { rowKey, type ToolBody } from '../../src-preload/contract/rows.ts'
import { sayTurnEnded } from '../adapters/memory/scripted-coder.ts'
import { leadSays, openScriptedRoom, type ScriptedRoom } from '../adapters/memory/scripted-room.ts'
import type { ToolPreview } from './ports.ts'

interface At { readonly room: ScriptedRoom; readonly taskId: TaskId; readonly session: string }

/** A room whose first turn works. */
async function working(): Promise<At> {
  const room = await openScriptedRoom({ leadAnswers: () => leadSays.brief })
  const taskId = await room.create()
  await room.decide(taskId, 'approved')
  return { room, taskId, session: room.state(taskId).sessionId! }
}

const id = (name: string): CallId => name as CallId

function preview({ taskId, session }: At, callId: string, more: Partial<ToolPreview> = {}): ToolPreview {
  return { taskId, sessionId: session, callId: id(callId), tool: 'write', argumentBytes: 10, target: null, tail: '', tailOf: null, contentLines: null, before: null, fields: [], idUsedTwice: false, state: 'growing', seenAt: 1, ...more }
}

function tool({ room, taskId }: At, callId: string): ToolBody | undefined {
  const row = room.engine.room.get(taskId, rowKey.tool(taskId, callId))
  return row?.kind === 'entry' && row.body.is === 'tool' ? row.body : undefined
}

const tools = (at: At): readonly ToolBody[] => at.room.engine.room.rows(at.taskId).flatMap((row) => (row.kind === 'entry' && row.body.is === 'tool' ? [row.body] : []))
const notices = (at: At): readonly string[] => at.room.engine.room.rows(at.taskId).flatMap((row) => (row.kind === 'entry' && row.body.is === 'notice' ? [row.body.text] : []))

/** What the runtime tells of a call, one by one. */
function said({ room }: At, callId: string, sessionId?: string, parentSessionId: string | null = null) {
  const say = (signal: Parameters<ReturnType<typeof room.coder.run>['say']>[0], name: string): void => {
    const run = room.coder.run()
    if (sessionId === undefined) run.say(signal)
    else run.spec.onSignal({ ...signal, signalId: `${sessionId}-${callId}-${name}`, sessionId, parentSessionId })
  }
  const call = { callId: id(callId), tool: 'write' }
  return {
    pending: (wireCallId?: string) => { say({ is: 'tool-pending', ...call, ...(wireCallId === undefined ? {} : { wireCallId }) }, 'pending') },
    running: () => { say({ is: 'tool-running', ...call, input: { filePath: 'a.ts' }, output: null }, 'running') },
    ended: () => { say({ is: 'tool-ended', ...call, outcome: 'done', input: { filePath: 'a.ts' }, output: 'ok', title: null, exitCode: null }, 'ended') },
  }
}

describe('a preview', () => {
  it('is a row by the wire alone, before the runtime has said a word', async () => {
    const at = await working()
    at.room.gateway.preview(preview(at, 'a', { target: 'src/a.ts', argumentBytes: 40, tail: 'const', tailOf: 'content', contentLines: 1 }))
    expect(tool(at, 'a')).toMatchObject({ tool: 'write', state: 'preview', target: 'src/a.ts', argumentBytes: 40, tail: 'const' })
    said(at, 'a').pending()
    expect(tools(at)).toHaveLength(1)
  })

  it('tells what it is about as soon as that is known, and of all else once a frame', async () => {
    const at = await working()
    const told: (string | null)[] = []
    at.room.engine.room.follow(({ put }) => { for (const row of put) if (row.kind === 'entry' && row.body.is === 'tool') told.push(row.body.target) })
    at.room.gateway.preview(preview(at, 'a'))
    await Promise.resolve()
    at.room.gateway.preview(preview(at, 'a', { argumentBytes: 20 }))
    await Promise.resolve()
    expect(told).toEqual([null])
    at.room.gateway.preview(preview(at, 'a', { argumentBytes: 30, target: 'src/a.ts' }))
    await Promise.resolve()
    expect(told).toEqual([null, 'src/a.ts'])
  })

  it('waits for its session, and is shown once that is a descendant of the task\'s own, under the call that began it', async () => {
    const at = await working()
    at.room.gateway.preview(preview({ ...at, session: 'ses_child' }, 'c', { argumentBytes: 7 }))
    at.room.gateway.preview(preview({ ...at, session: 'ses_child' }, 'c', { argumentBytes: 9 }))
    at.room.gateway.preview(preview({ ...at, session: 'ses_foreign' }, 'x'))
    expect(tools(at)).toEqual([])
    at.room.coder.run().spec.onSignal({ signalId: 's1', sessionId: 'ses_child', parentSessionId: at.session, parentCallId: id('task_1'), is: 'busy' })
    at.room.gateway.preview(preview(at, 'own'))
    expect(tools(at).map((body) => [body.callId, body.argumentBytes, body.parentCallId])).toEqual([['c', 9, 'task_1'], ['own', 10, null]])
  })

  it('keeps its parent through to the record', async () => {
    const at = await working()
    at.room.coder.run().spec.onSignal({ signalId: 's1', sessionId: 'ses_child', parentSessionId: at.session, parentCallId: id('task_1'), is: 'busy' })
    const run = at.room.coder.run()
    run.spec.onSignal({ signalId: 's2', sessionId: 'ses_child', parentSessionId: at.session, parentCallId: id('task_1'), is: 'tool-pending', callId: id('c'), tool: 'read' })
    expect(tool(at, 'c')).toMatchObject({ state: 'preview', parentCallId: 'task_1' })
    run.spec.onSignal({ signalId: 's3', sessionId: 'ses_child', parentSessionId: at.session, parentCallId: id('task_1'), is: 'tool-running', callId: id('c'), tool: 'read', input: {}, output: null })
    await at.room.settle()
    expect(tool(at, 'c')).toMatchObject({ state: 'running', parentCallId: 'task_1' })
  })

  it('never goes back: a double, a late one and one out of order change nothing for the worse', async () => {
    const at = await working()
    for (const argumentBytes of [10, 30, 30, 20]) at.room.gateway.preview(preview(at, 'a', { argumentBytes, target: argumentBytes === 30 ? 'a.ts' : null }))
    expect(tool(at, 'a')).toMatchObject({ argumentBytes: 30, target: 'a.ts' })
    said(at, 'a').running()
    await at.room.settle()
    at.room.gateway.preview(preview(at, 'a', { argumentBytes: 99, tail: 'late' }))
    expect(tool(at, 'a')).toMatchObject({ state: 'running', tail: '', before: null, fields: [] })
    said(at, 'a').ended()
    await at.room.settle()
    at.room.gateway.preview(preview(at, 'a', { state: 'interrupted' }))
    said(at, 'a').pending()
    expect(tools(at)).toMatchObject([{ callId: 'a', state: 'done' }])
  })

  it('of a call whose id was used before goes to the name that the runtime gives it', async () => {
    const at = await working()
    said(at, 'call_0').pending()
    said(at, 'call_0').ended()
    await at.room.settle()
    // The wire is first, and knows only the vendor's id.
    at.room.gateway.preview(preview(at, 'call_0', { target: 'second.ts', argumentBytes: 50 }))
    expect(tools(at)).toMatchObject([{ callId: 'call_0', state: 'done' }])
    said(at, 'call_0~prt_2').pending('call_0')
    expect(tool(at, 'call_0~prt_2')).toMatchObject({ state: 'preview', target: 'second.ts', argumentBytes: 50 })
    at.room.gateway.preview(preview(at, 'call_0', { target: 'second.ts', argumentBytes: 60 }))
    expect(tool(at, 'call_0~prt_2')).toMatchObject({ argumentBytes: 60 })
    expect(tool(at, 'call_0')).toMatchObject({ state: 'done' })
  })

  it('of two calls under one id says so on the row, and once on record', async () => {
    const at = await working()
    at.room.gateway.preview(preview(at, 'a', { tool: 'bash', argumentBytes: 400 }))
    for (const argumentBytes of [20, 40]) at.room.gateway.preview(preview(at, 'a', { tool: 'bash', idUsedTwice: true, argumentBytes }))
    expect(tool(at, 'a')).toMatchObject({ argumentBytes: 40, reason: expect.stringContaining('two calls') })
    expect(notices(at).filter((text) => text.includes('the same id (a, bash)'))).toHaveLength(1)
    await at.room.restart()
    expect(notices(at).filter((text) => text.includes('the same id (a, bash)'))).toHaveLength(1)
  })

  it('is nothing that can be approved, and nothing of it is journaled', async () => {
    const at = await working()
    at.room.gateway.preview(preview(at, 'a', { tool: 'bash', target: 'rm -rf /', tail: 'rm -rf /', tailOf: 'command' }))
    expect(at.room.engine.room.rows(at.taskId).filter((row) => row.kind === 'hold' && row.outcome === 'waiting')).toEqual([])
    expect(JSON.stringify([...at.room.journal.read(at.taskId)])).not.toContain('rm -rf')
  })
})

describe('whatever comes in whatever order', () => {
  type Step = 'wire' | 'wire-end' | 'wire-broken' | 'pending' | 'running' | 'ended'
  const step = fc.record({ call: fc.constantFrom('a', 'b', 'c'), what: fc.constantFrom<Step>('wire', 'wire-end', 'wire-broken', 'pending', 'running', 'ended') })
  const over = fc.constantFrom('turn-ended', 'turn-failed', 'stopped', 'child-died', 'app-died', 'quit')

  it('each call has one row, at most one final record, and ends in exactly one terminal state', async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 14 }), over, fc.array(step, { maxLength: 4 }), async (steps, how, late) => {
      const at = await working()
      const play = (all: readonly { readonly call: string; readonly what: Step }[]): void => {
        for (const [index, { call, what }] of all.entries()) {
          if (what === 'pending' || what === 'running' || what === 'ended') said(at, call)[what]()
          else at.room.gateway.preview(preview(at, call, { argumentBytes: index, state: what === 'wire' ? 'growing' : what === 'wire-end' ? 'complete' : 'interrupted' }))
        }
      }
      play(steps)
      await at.room.settle()
      if (how === 'turn-ended' || how === 'turn-failed') sayTurnEnded(at.room.coder.run(), 'over', how === 'turn-ended' ? 'completed' : 'failed')
      else if (how === 'stopped') await at.room.give(at.taskId, { is: 'stop-task' })
      else if (how === 'child-died') at.room.coder.run().say({ is: 'exited', code: null, signal: 'SIGKILL' })
      else if (how === 'quit') await at.room.quitAndStart()
      else await at.room.restart()
      await at.room.settle()
      // What a process still says when it has been replaced or ended; of one of an earlier life nothing can be heard at all.
      if (how === 'stopped' || how === 'child-died') play(late.filter(({ what }) => what !== 'ended'))
      else for (const { call } of late) at.room.gateway.preview(preview(at, call))
      await at.room.settle()
      const bodies = tools(at)
      expect(new Set(bodies.map(({ callId }) => callId)).size).toBe(bodies.length)
      for (const body of bodies) expect(['done', 'failed', 'interrupted', 'uncertain']).toContain(body.state)
      const finals = [...at.room.journal.read(at.taskId)].flatMap(({ payload }) => { const event = payload as { type: string; callId?: string }; return event.type === 'tool-ended' ? [event.callId] : [] })
      expect(new Set(finals).size).toBe(finals.length)
    }), { numRuns: 150 })
  })
})

describe('a wait for the model', () => {
  const activity = ({ room, taskId }: At) => { const row = room.engine.room.get(taskId, rowKey.task(taskId)); return row?.kind === 'task' ? row.activity : null }

  it('says what for, since when and until when, keeps its beginning, and is over when the model works again', async () => {
    const at = await working()
    const run = at.room.coder.run()
    const since = at.room.time.now()
    run.say({ is: 'retrying', attempt: 1, message: 'rate limit', nextAt: since + 2_000 })
    expect(activity(at)).toMatchObject({ waitingFor: 'the model: attempt 1 failed: rate limit', waitingSince: since, nextTryAt: since + 2_000 })
    await at.room.time.advance(3_000)
    run.say({ is: 'retrying', attempt: 2, message: 'rate limit', nextAt: since + 7_000 })
    expect(activity(at)).toMatchObject({ waitingFor: 'the model: attempt 2 failed: rate limit', waitingSince: since, nextTryAt: since + 7_000 })
    run.say({ is: 'busy' })
    expect(activity(at)).toMatchObject({ waitingFor: null, waitingSince: null, nextTryAt: null })
  })
})
