import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CoderSignal } from '../../engine/ports.ts'
import { createEditWatch } from './edit-watch.ts'
import { createRefusedCommands } from './refused-commands.ts'
import { openConversation, type Conversation } from './run.ts'
import { json, manualTimers, openStandIn, silent, type ManualTimers, type StandIn } from './stand-in.suite.ts'
import { manualClock } from './support.suite.ts'
import { createWriteTurns, type WriteTurns } from './write-turns.ts'

const unwatched = createEditWatch('/nowhere', '/workspace', createWriteTurns())
let agent: StandIn
let timers: ManualTimers
let clock: ReturnType<typeof manualClock>
let signals: CoderSignal[]
beforeEach(async () => { timers = manualTimers(); clock = manualClock(); signals = []; agent = await openStandIn(timers) })
afterEach(async () => { await agent.close() })

async function converse(edits = unwatched): Promise<Conversation> {
  const opened = await openConversation({ client: agent.client, process: agent.process, clock, timers, log: () => undefined, refused: createRefusedCommands(), edits, workspace: '/workspace', onSignal: (signal) => { signals.push(signal) } })
  if (!opened.ok) throw new Error(opened.error.message)
  return opened.value
}
const turn = { sessionId: 'ses_1', messageId: 'msg_1', partId: 'prt_1', text: 'do', system: 'sys' }
const accepted = (): void => { agent.routes['POST /session/ses_1/prompt_async'] = (response) => { response.writeHead(204).end() } }
const history = (...messages: object[]): void => { agent.routes['GET /session/ses_1/message'] = json(messages) }
const user = { info: { id: 'msg_1', sessionID: 'ses_1', role: 'user', time: { created: 1 } }, parts: [] }
const answer = (info: object, parts: object[] = []): object => ({ info: { id: 'msg_2', sessionID: 'ses_1', role: 'assistant', parentID: 'msg_1', time: { created: 1, completed: 2 }, ...info }, parts })
const busy = { ses_1: { type: 'busy' } }
const ended = (): Extract<CoderSignal, { is: 'turn-ended' }>[] => signals.filter((signal) => signal.is === 'turn-ended')
/** Waits until the turn's watch sleeps for so long, then lets that time pass. */
async function pass(ms: number, by = ms): Promise<void> {
  await expect.poll(() => timers.waiting(ms), { timeout: 10_000 }).toBeGreaterThan(0)
  clock.advance(by)
  timers.fire(ms)
}

describe('the start of a conversation', () => {
  test('fails when the canary does not come within its bound', async () => {
    agent.routes['GET /event'] = silent
    const opened = openConversation({ client: agent.client, process: agent.process, clock, timers, log: () => undefined, refused: createRefusedCommands(), edits: unwatched, workspace: '/workspace', onSignal: () => undefined })
    await pass(15_000)
    expect(await opened).toMatchObject({ ok: false, error: { code: 'opencode-failed' } })
  })

  test('fails when the process ends first', async () => {
    agent.routes['GET /event'] = silent
    const opened = openConversation({ client: agent.client, process: agent.process, clock, timers, log: () => undefined, refused: createRefusedCommands(), edits: unwatched, workspace: '/workspace', onSignal: () => undefined })
    agent.exit(1, null)
    expect(await opened).toMatchObject({ ok: false, error: { code: 'opencode-exited' } })
  })
})

describe('a submission', () => {
  test('carries ids, model, agent and system text', async () => {
    accepted(); history(user)
    const conversation = await converse()
    expect(await conversation.submit(turn)).toEqual({ ok: true, value: null })
    expect(JSON.parse(agent.seen.find(({ path }) => path.endsWith('prompt_async'))?.body ?? '')).toEqual({ messageID: 'msg_1', agent: 'build', model: { providerID: 'gw', modelID: 'm1' }, system: 'sys', parts: [{ id: 'prt_1', type: 'text', text: 'do' }] })
  })

  test('without an answer is ambiguous; when history has it after all, its end is told', async () => {
    agent.routes['POST /session/ses_1/prompt_async'] = silent
    history()
    const conversation = await converse()
    const sent = conversation.submit(turn)
    await expect.poll(() => agent.seen.some(({ path }) => path.endsWith('prompt_async'))).toBe(true)
    timers.fire(30_000)
    expect(await sent).toMatchObject({ ok: false, error: { code: 'submit-ambiguous' } })
    // Nothing is concluded from its absence, however long that lasts.
    await pass(500, 60_000)
    await pass(500, 60_000)
    await expect.poll(() => timers.waiting(500), { timeout: 10_000 }).toBe(1)
    expect(ended()).toEqual([])
    history(user, answer({ finish: 'stop' }))
    await pass(500)
    await expect.poll(ended).toMatchObject([{ messageId: 'msg_1', outcome: 'completed' }])
  })

  test.each([[404, 'submit-failed'], [400, 'submit-failed'], [500, 'submit-ambiguous']])('that is answered with %i is %s', async (status, code) => {
    agent.routes['POST /session/ses_1/prompt_async'] = json({}, status)
    history()
    expect(await (await converse()).submit(turn)).toMatchObject({ ok: false, error: { code } })
  })

  test('that failed for certain can be made again; one that is open takes no second beside it', async () => {
    agent.routes['POST /session/ses_1/prompt_async'] = json({}, 400)
    agent.routes['GET /session/status'] = json(busy)
    history()
    const conversation = await converse()
    await conversation.submit(turn)
    accepted()
    expect(await conversation.submit(turn)).toMatchObject({ ok: true })
    expect(await conversation.submit({ ...turn, messageId: 'msg_9' })).toMatchObject({ ok: false, error: { code: 'too-busy' } })
    expect(await conversation.submit(turn)).toMatchObject({ ok: true })
  })
})

describe('the end of a turn', () => {
  test('is told once, however often the session says that it is idle and the turn is sent', async () => {
    accepted(); history(user, answer({ finish: 'stop' }))
    const conversation = await converse()
    await conversation.submit(turn)
    await expect.poll(ended).toHaveLength(1)
    agent.emit('session.idle', { sessionID: 'ses_1' })
    agent.emit('session.status', { sessionID: 'ses_1', status: { type: 'idle' } })
    await conversation.submit(turn)
    agent.emit('session.status', { sessionID: 'ses_1', status: { type: 'busy' } })
    await expect.poll(() => signals.some(({ is }) => is === 'busy')).toBe(true)
    expect(ended()).toHaveLength(1)
  })

  test('waits while the session works, and is found without any event', async () => {
    accepted(); history(user, answer({ finish: 'tool-calls' }))
    agent.routes['GET /session/status'] = json(busy)
    await (await converse()).submit(turn)
    await pass(5_000)
    await expect.poll(() => timers.waiting(5_000), { timeout: 10_000 }).toBe(1)
    expect(ended()).toEqual([])
    history(user, answer({ finish: 'stop' }, [{ id: 'prt_5', sessionID: 'ses_1', messageID: 'msg_2', type: 'text', text: 'bye', time: { start: 1, end: 2 } }]))
    agent.routes['GET /session/status'] = json({})
    await pass(5_000)
    await expect.poll(ended).toMatchObject([{ outcome: 'completed', text: 'bye' }])
    expect(signals.map(({ is }) => is)).toEqual(['text', 'turn-ended'])
  })

  test('comes when an answer stays unfinished though the session is idle; its open calls end first', async () => {
    const part = { id: 'prt_5', sessionID: 'ses_1', messageID: 'msg_2', type: 'tool', tool: 'bash', callID: 'call_1', state: { status: 'running', input: { command: 'ls' } } }
    agent.routes['POST /session/ses_1/prompt_async'] = (response) => { history(user, answer({ time: { created: 1 } }, [part])); response.writeHead(204).end() }
    await (await converse()).submit(turn)
    await pass(150)
    await pass(150, 2_000)
    await expect.poll(ended).toMatchObject([{ outcome: 'failed', error: expect.stringContaining('unfinished') as string }])
    expect(signals.map(({ is }) => is)).toEqual(['tool-running', 'tool-ended', 'turn-ended'])
    expect(signals[1]).toMatchObject({ outcome: 'interrupted' })
  })

  test('comes when a prompt that was taken is never worked on, with the session’s own error where there is one', async () => {
    accepted(); history(user)
    const conversation = await converse()
    await conversation.submit(turn)
    await pass(500)
    await pass(500, 60_000)
    await expect.poll(ended).toMatchObject([{ outcome: 'failed', error: expect.stringContaining('never began') as string }])
    await conversation.submit({ ...turn, messageId: 'msg_3' })
    agent.emit('session.error', { sessionID: 'ses_1', error: { name: 'UnknownError', data: { message: 'Model not found' } } })
    await pass(500)
    await pass(500, 5_000)
    await expect.poll(ended).toMatchObject([{}, { messageId: 'msg_3', outcome: 'failed', error: 'Model not found' }])
  })
})

describe('an agent that does not answer any more', () => {
  test('is ended after a minute, and its rows with it', async () => {
    accepted(); history(user)
    agent.routes['GET /session/status'] = json({}, 503)
    await (await converse()).submit(turn)
    agent.emit('message.part.updated', { part: { id: 'prt_5', sessionID: 'ses_1', messageID: 'msg_2', type: 'tool', tool: 'write', callID: 'call_1', state: { status: 'pending', input: {}, raw: '' } } })
    await expect.poll(() => signals.length).toBe(1)
    await pass(1_000, 59_000)
    await expect.poll(() => timers.waiting(1_000), { timeout: 10_000 }).toBe(1)
    expect(agent.stops()).toBe(0)
    await pass(1_000, 1_000)
    await expect.poll(() => signals.map(({ is }) => is)).toEqual(['tool-pending', 'tool-ended', 'exited'])
    expect(agent.stops()).toBe(1)
  })
})

describe('an ask', () => {
  const ask = (command: string): object => ({ id: 'per_1', sessionID: 'ses_1', permission: 'bash', patterns: [], metadata: { command }, tool: { messageID: 'msg_2', callID: 'call_1' } })
  const part = (state: object): object => ({ part: { id: 'prt_5', sessionID: 'ses_1', messageID: 'msg_2', type: 'tool', tool: 'bash', callID: 'call_1', state } })
  const replies = (): unknown[] => agent.seen.filter(({ path }) => path === '/permission/per_1/reply').map(({ body }) => JSON.parse(body) as unknown)

  test('for another command than would run is rejected by the host, and its answer is not foreign', async () => {
    agent.routes['POST /permission/per_1/reply'] = json(true)
    await converse()
    agent.emit('message.part.updated', part({ status: 'running', input: { command: 'rm -rf /' } }))
    agent.emit('permission.asked', ask('ls'))
    await expect.poll(replies).toMatchObject([{ reply: 'reject', message: expect.any(String) as string }])
    agent.emit('permission.replied', { sessionID: 'ses_1', requestID: 'per_1', reply: 'reject' })
    agent.emit('session.status', { sessionID: 'ses_1', status: { type: 'busy' } })
    await expect.poll(() => signals.map(({ is }) => is)).toEqual(['tool-running', 'busy'])
  })

  test('whose event was lost is found while its turn works; one whose call never runs is rejected at the third look', async () => {
    accepted(); history(user)
    agent.routes['GET /session/status'] = json(busy)
    agent.routes['GET /permission'] = json([ask('ls')])
    agent.routes['POST /permission/per_1/reply'] = json(true)
    await (await converse()).submit(turn)
    for (let look = 0; look < 3; look += 1) await pass(5_000)
    await expect.poll(replies).toMatchObject([{ reply: 'reject' }])
  })

  test('that somebody answered just before us is told as foreign, though our answer was the same', async () => {
    const conversation = await converse()
    agent.emit('message.part.updated', part({ status: 'running', input: { command: 'ls' } }))
    agent.emit('permission.asked', ask('ls'))
    await expect.poll(() => signals.at(-1)?.is).toBe('permission-asked')
    agent.routes['POST /permission/per_1/reply'] = (response, seen) => {
      agent.emit('permission.replied', { sessionID: 'ses_1', requestID: 'per_1', reply: 'once' })
      agent.emit('session.status', { sessionID: 'ses_1', status: { type: 'busy' } })
      void expect.poll(() => signals.at(-1)?.is).toBe('busy').then(() => { json({}, 404)(response, seen) })
    }
    expect(await conversation.answerPermission('per_1', { allow: true })).toMatchObject({ ok: false, error: { code: 'unknown-approval' } })
    expect(signals.at(-1)).toMatchObject({ is: 'permission-replied', permissionId: 'per_1' })
  })
})

describe('a yes to an edit', () => {
  const replies = (): unknown[] => agent.seen.filter(({ path }) => path === '/permission/per_1/reply').map(({ body }) => JSON.parse(body) as unknown)
  const dir = mkdtempSync(join(tmpdir(), 'edited-'))
  afterAll(() => { rmSync(dir, { recursive: true, force: true }) })
  const input = { filePath: '/workspace/f', content: 'x' }
  const part = (state: object): object => ({ id: 'prt_5', sessionID: 'ses_1', messageID: 'msg_2', type: 'tool', tool: 'write', callID: 'call_1', state })

  async function asked(): Promise<{ conversation: Conversation; writers: WriteTurns }> {
    agent.routes['POST /permission/per_1/reply'] = json(true)
    const writers = createWriteTurns()
    const conversation = await converse(createEditWatch(dir, '/workspace', writers))
    agent.emit('message.part.updated', { part: part({ status: 'running', input }) })
    agent.emit('permission.asked', { id: 'per_1', sessionID: 'ses_1', permission: 'edit', patterns: ['f'], metadata: { filepath: '/workspace/f', diff: '' }, tool: { messageID: 'msg_2', callID: 'call_1' } })
    await expect.poll(() => signals.at(-1)).toMatchObject({ is: 'permission-asked', edit: { tool: 'write' } })
    return { conversation, writers }
  }

  /** The yes waits for a command that runs; `meanwhile` happens before that ends. */
  async function waited(meanwhile: () => void, stands: () => boolean): Promise<WriteTurns> {
    const { conversation, writers } = await asked()
    await writers.command('c1', new AbortController().signal)
    const answered = conversation.answerPermission('per_1', { allow: true, stands })
    meanwhile()
    writers.commandEnded('c1')
    expect(await answered).toEqual({ ok: true, value: null })
    return writers
  }

  test('is a no when the standing grant that it comes of ends while the edit waits, and keeps nobody away', async () => {
    let stood = true
    const writers = await waited(() => { stood = false }, () => stood)
    expect(replies()).toEqual([{ reply: 'reject', message: 'The standing grant that covered this has ended.' }])
    expect(await writers.edit('another')).toBe(true)
  })

  test('goes on while its standing grant stands', async () => {
    await waited(() => undefined, () => true)
    expect(replies()).toEqual([{ reply: 'once' }])
  })

  test('that waits when OpenCode ends is known not to have been made', async () => {
    const { conversation, writers } = await asked()
    await writers.command('c1', new AbortController().signal)
    const answered = conversation.answerPermission('per_1', { allow: true })
    agent.exit(1, null)
    expect(await answered).toMatchObject({ ok: false, error: { code: 'opencode-exited' } })
    expect(replies()).toEqual([])
  })

  test('that first comes when OpenCode has ended is known not to have arrived', async () => {
    const { conversation } = await asked()
    agent.exit(1, null)
    await expect.poll(() => signals.at(-1)?.is).toBe('exited')
    expect(await conversation.answerPermission('per_1', { allow: true })).toMatchObject({ ok: false, error: { code: 'opencode-exited', message: 'OpenCode had ended before this answer was sent.' } })
    expect(await conversation.answerPermission('per_1', { allow: false, message: 'no' })).toMatchObject({ ok: false, error: { code: 'opencode-exited' } })
    expect(replies()).toEqual([])
  })

  test('keeps others away no longer than to the next look by clock when the event of its end was lost', async () => {
    accepted(); history(user, answer({ time: { created: 1 } }, [part({ status: 'running', input })]))
    agent.routes['GET /session/status'] = json(busy)
    const { conversation, writers } = await asked()
    await conversation.submit(turn)
    await conversation.answerPermission('per_1', { allow: true })
    let began = false
    const command = writers.command('c1', new AbortController().signal).then(() => { began = true })
    await pass(5_000)
    await expect.poll(() => timers.waiting(5_000), { timeout: 10_000 }).toBe(1)
    expect(began, 'the edit is still made').toBe(false)
    history(user, answer({ time: { created: 1 } }, [part({ status: 'completed', input, output: 'done', title: 'f', metadata: {}, time: { start: 1, end: 2 } })]))
    await pass(5_000)
    await command
    expect(signals.filter(({ is }) => is === 'tool-ended')).toHaveLength(1)
  })
})

describe('an answer', () => {
  test('goes to each of the questions that were asked at once: none of them counts as unanswered', async () => {
    agent.routes['POST /question/que_1/reply'] = json(true)
    const conversation = await converse()
    agent.emit('question.asked', { id: 'que_1', sessionID: 'ses_1', questions: [{ question: 'one?', header: '1', options: [] }, { question: 'two?', header: '2', options: [] }] })
    await expect.poll(() => signals.at(-1)?.is).toBe('question-asked')
    expect(await conversation.answerQuestion('que_1', [['A, and B']])).toEqual({ ok: true, value: null })
    expect(agent.seen.filter(({ path }) => path === '/question/que_1/reply').map(({ body }) => JSON.parse(body) as unknown)).toEqual([{ answers: [['A, and B'], ['A, and B']] }])
  })
})
