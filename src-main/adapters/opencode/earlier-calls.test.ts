import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CoderSignal } from '../../engine/ports.ts'
import { createEditWatch } from './edit-watch.ts'
import { createRefusedCommands } from './refused-commands.ts'
import { openConversation, type Conversation } from './run.ts'
import { json, manualTimers, openStandIn, type StandIn } from './stand-in.suite.ts'
import { manualClock } from './support.suite.ts'
import { createWriteTurns } from './write-turns.ts'

let agent: StandIn
let signals: CoderSignal[]
beforeEach(async () => {
  signals = []
  agent = await openStandIn(manualTimers())
  agent.routes['POST /session/ses_1/prompt_async'] = (response) => { response.writeHead(204).end() }
  agent.routes['GET /session/status'] = json({ ses_1: { type: 'busy' } })
})
afterEach(async () => { await agent.close() })

const turn = { sessionId: 'ses_1', messageId: 'msg_9', partId: 'prt_9', text: 'do', system: 'sys' }
const done = { status: 'completed', input: { filePath: '/workspace/f' }, output: 'done', title: 'f', metadata: {}, time: { start: 1, end: 2 } }
const running = { status: 'running', input: { filePath: '/workspace/f' } }
const tool = (id: string, callID: string, state: object = done, change: object = {}): object => ({ id, sessionID: 'ses_1', messageID: 'msg_2', type: 'tool', tool: 'write', callID, state, ...change })
const answer = (parts: object[], sessionID = 'ses_1'): object => ({ info: { id: 'msg_2', sessionID, role: 'assistant', parentID: 'msg_1', time: { created: 1, completed: 2 }, finish: 'stop' }, parts })
const said = (is: 'tool-running' | 'tool-ended'): string[][] => signals.flatMap((signal) => signal.is === is ? [[signal.signalId.split(':')[0] ?? '', signal.callId]] : [])

/** A process that is new to the session. */
async function converse(): Promise<Conversation> {
  const opened = await openConversation({ client: agent.client, process: agent.process, clock: manualClock(), timers: manualTimers(), log: () => undefined, refused: createRefusedCommands(), edits: createEditWatch('/nowhere', '/workspace', createWriteTurns()), workspace: '/workspace', onSignal: (signal) => { signals.push(signal) } })
  if (!opened.ok) throw new Error(opened.error.message)
  return opened.value
}

/** A call begins in the turn of now. */
async function begins(id: string, callID: string, change: object = {}): Promise<string> {
  agent.emit('message.part.updated', { part: tool(id, callID, running, { messageID: 'msg_10', ...change }) })
  await expect.poll(() => said('tool-running').some(([part]) => part === id)).toBe(true)
  return said('tool-running').find(([part]) => part === id)?.[1] ?? ''
}

describe('a process that goes on with the session of another', () => {
  test('gives a call whose id an earlier one has a name of its own, also to who asks for it', async () => {
    agent.routes['GET /session/ses_1/message'] = json([answer([tool('prt_1', 'call_1'), tool('prt_2', 'call_2')])])
    await (await converse()).submit(turn)
    expect(await begins('prt_10', 'call_1')).toBe('call_1~prt_10')
    agent.emit('permission.asked', { id: 'per_1', sessionID: 'ses_1', permission: 'edit', patterns: ['f'], metadata: { filepath: '/workspace/f', diff: 'd' }, always: ['*'], tool: { messageID: 'msg_10', callID: 'call_1' } })
    await expect.poll(() => signals.find(({ is }) => is === 'permission-asked')).toMatchObject({ callId: 'call_1~prt_10' })
    expect(said('tool-ended')).toEqual([['prt_1', 'call_1'], ['prt_2', 'call_2']])
  })

  test('gives each earlier call the name that the other process gave, and no later process another', async () => {
    agent.routes['GET /session/ses_1/message'] = json([answer([tool('prt_5', 'x'), tool('prt_1', 'x'), tool('prt_3', 'x')])])
    for (let process = 0; process < 2; process += 1) {
      signals = []
      await (await converse()).submit({ ...turn, messageId: `msg_9${process}` })
      await expect.poll(() => said('tool-ended')).toEqual([['prt_1', 'x'], ['prt_3', 'x~prt_3'], ['prt_5', 'x~prt_5']])
    }
  })

  test('knows the calls of subagents, too, and only of this session’s', async () => {
    agent.routes['GET /session'] = json([{ id: 'ses_2', title: 's', parentID: 'ses_1', time: { created: 1, updated: 1 } }, { id: 'ses_3', title: 's', parentID: 'ses_2', time: { created: 1, updated: 1 } }, { id: 'ses_4', title: 's', time: { created: 1, updated: 1 } }])
    agent.routes['GET /session/ses_2/message'] = json([answer([], 'ses_2')])
    agent.routes['GET /session/ses_3/message'] = json([answer([tool('prt_1', 'call_1', done, { sessionID: 'ses_3' })], 'ses_3')])
    await (await converse()).submit(turn)
    expect(await begins('prt_10', 'call_1')).toBe('call_1~prt_10')
  })

  test('ends what its process left open before the turn begins', async () => {
    agent.routes['GET /session/ses_1/message'] = json([answer([tool('prt_1', 'call_1', running)])])
    await (await converse()).submit(turn)
    await expect.poll(() => signals.filter(({ is }) => is === 'tool-ended')).toMatchObject([{ signalId: 'prt_1:ended', outcome: 'interrupted' }])
  })

  test('reads the earlier calls once, and sends nothing when they cannot be read', async () => {
    agent.routes['GET /session/ses_1/message'] = json({}, 500)
    const conversation = await converse()
    expect(await conversation.submit(turn)).toMatchObject({ ok: false, error: { code: 'submit-failed', message: expect.stringContaining('earlier calls') as string } })
    expect(agent.seen.some(({ path }) => path.endsWith('prompt_async'))).toBe(false)
    agent.routes['GET /session/ses_1/message'] = json([])
    expect(await conversation.submit(turn)).toEqual({ ok: true, value: null })
    const read = agent.seen.filter(({ path }) => path === '/session').length
    await conversation.submit({ ...turn, messageId: 'msg_99' })
    expect(agent.seen.filter(({ path }) => path === '/session')).toHaveLength(read)
  })
})
