import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CoderSignal } from '../../engine/ports.ts'
import { createEditWatch } from './edit-watch.ts'
import { createRefusedCommands, type RefusedCommands } from './refused-commands.ts'
import { openConversation, type Conversation } from './run.ts'
import { json, openStandIn, type Route, type StandIn } from './stand-in.suite.ts'
import { hostTimers, manualClock } from './support.suite.ts'
import { createWriteTurns, type WriteTurns } from './write-turns.ts'

interface Reply { readonly id: string; readonly reply: string; readonly message?: string }

let agent: StandIn
let conversation: Conversation
let signals: CoderSignal[]
let refused: RefusedCommands
let writers: WriteTurns
let dir: string
/** What OpenCode has open, by its session. */
let open: Map<string, string>
let replies: Reply[]
/** Set to keep OpenCode from taking an answer. */
let gate: Promise<void>

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'answers-'))
  agent = await openStandIn()
  signals = []; refused = createRefusedCommands(); writers = createWriteTurns(); open = new Map(); replies = []; gate = Promise.resolve()
  const opened = await openConversation({ client: agent.client, process: agent.process, clock: manualClock(), timers: hostTimers, log: () => undefined, refused, edits: createEditWatch(dir, '/workspace', writers), workspace: '/workspace', onSignal: (signal) => { signals.push(signal) } })
  if (!opened.ok) throw new Error(opened.error.message)
  conversation = opened.value
})
afterEach(async () => { await agent.close(); rmSync(dir, { recursive: true, force: true }) })

/** By OpenCode's contract a “reject” rejects the session's other open asks as well. */
const replyOf = (id: string): Route => (response, seen) => {
  void gate.then(() => {
    const { reply, message } = JSON.parse(seen.body) as Omit<Reply, 'id'>
    const sessionID = open.get(id)
    if (sessionID === undefined) { json({}, 404)(response, seen); return }
    replies.push({ id, reply, ...(message === undefined ? {} : { message }) })
    for (const each of reply === 'reject' ? [id, ...[...open].flatMap(([other, session]) => (other !== id && session === sessionID ? [other] : []))] : [id]) {
      open.delete(each)
      agent.emit('permission.replied', { sessionID, requestID: each, reply })
    }
    json(true)(response, seen)
  })
}

const part = (id: string, tool: string, sessionID: string, state: object): object => ({ part: { id: `prt_${id}`, sessionID, messageID: `msg_${sessionID}`, type: 'tool', tool, callID: `call_${id}`, state } })
const wire = (id: string, sessionID: string, of: object): void => {
  open.set(`per_${id}`, sessionID)
  agent.routes[`POST /permission/per_${id}/reply`] = replyOf(`per_${id}`)
  agent.emit('permission.asked', { id: `per_${id}`, sessionID, patterns: [], tool: { messageID: `msg_${sessionID}`, callID: `call_${id}` }, ...of })
}
const askedFor = (id: string): Promise<unknown> => expect.poll(() => signals.some((signal) => signal.is === 'permission-asked' && signal.permissionId === `per_${id}`)).toBe(true)

async function edit(id: string, sessionID = 'ses_1'): Promise<void> {
  agent.emit('message.part.updated', part(id, 'write', sessionID, { status: 'running', input: { filePath: `/workspace/${id}`, content: 'x' } }))
  wire(id, sessionID, { permission: 'edit', metadata: { filepath: `/workspace/${id}`, diff: '' } })
  await askedFor(id)
}
async function command(id: string): Promise<void> {
  agent.emit('message.part.updated', part(id, 'bash', 'ses_1', { status: 'running', input: { command: `run ${id}` } }))
  wire(id, 'ses_1', { permission: 'bash', metadata: { command: `run ${id}` } })
  await askedFor(id)
}
const deny = (id: string, message = `no ${id}`): ReturnType<Conversation['answerPermission']> => conversation.answerPermission(`per_${id}`, { allow: false, message })
const allow = (id: string): ReturnType<Conversation['answerPermission']> => conversation.answerPermission(`per_${id}`, { allow: true })
const ended = (id: string): void => { agent.emit('message.part.updated', part(id, 'write', 'ses_1', { status: 'error', input: {}, error: 'x' })) }
/** What was sent before has been seen, and nothing of it was taken for somebody else's answer. */
async function settled(): Promise<void> {
  const id = `mark_${String(signals.length)}`
  agent.emit('message.part.updated', part(id, 'read', 'ses_9', { status: 'pending', input: {}, raw: '' }))
  await expect.poll(() => signals.some((signal) => signal.is === 'tool-pending' && signal.callId.includes(id))).toBe(true)
  expect(signals.filter(({ is }) => is === 'permission-replied')).toEqual([])
}

const yes = { ok: true, value: null }

describe('a denied edit', () => {
  test('alone is rejected at once, also beside another session’s asks', async () => {
    await edit('a')
    await edit('b', 'ses_2')
    expect(await deny('a')).toEqual(yes)
    expect(replies).toEqual([{ id: 'per_a', reply: 'reject', message: 'no a' }])
    expect([...open.keys()]).toEqual(['per_b'])
  })

  test('leaves the session’s other asks waiting, and is rejected once they are answered', async () => {
    await edit('a')
    await edit('b')
    await command('c')
    const denied = deny('a')
    await settled()
    expect([...open.keys()]).toEqual(['per_a', 'per_b', 'per_c'])
    expect(await allow('b')).toEqual(yes)
    await settled()
    expect(replies).toEqual([{ id: 'per_b', reply: 'once' }])
    expect(await allow('c')).toEqual(yes)
    expect(await denied).toEqual(yes)
    expect(replies.at(-1)).toEqual({ id: 'per_a', reply: 'reject', message: 'no a' })
    await settled()
  })

  test('waits until OpenCode has taken the other’s answer', async () => {
    await edit('a')
    await edit('b')
    let take = (): void => undefined
    gate = new Promise((resolve) => { take = resolve })
    const [allowed, denied] = [allow('b'), deny('a')]
    await settled()
    expect(agent.seen.filter(({ path }) => path.startsWith('/permission/per_')).map(({ path }) => path)).toEqual(['/permission/per_b/reply'])
    take()
    expect(await Promise.all([allowed, denied])).toEqual([yes, yes])
    expect(replies.map(({ id, reply }) => [id, reply])).toEqual([['per_b', 'once'], ['per_a', 'reject']])
  })

  test('does not wait for another denied one, nor that one for it', async () => {
    await edit('a')
    await edit('b')
    expect(await Promise.all([deny('a'), deny('b')])).toEqual([yes, yes])
    expect(replies).toEqual([{ id: 'per_a', reply: 'reject', message: 'no a Of what was refused with it: no b' }])
    expect(open.size).toBe(0)
    await settled()
  })

  test('is rejected after a denied command, which is refused at the broker', async () => {
    await edit('a')
    await command('c')
    const denied = deny('a')
    expect(await deny('c')).toEqual(yes)
    expect(await denied).toEqual(yes)
    expect(replies.map(({ id, reply }) => [id, reply])).toEqual([['per_c', 'once'], ['per_a', 'reject']])
    expect(refused.take({ text: 'run c', cwd: '/workspace' })).toBe('no c')
  })

  test('waits for an ask whose call does not run yet', async () => {
    await edit('a')
    wire('c', 'ses_1', { permission: 'bash', metadata: { command: 'run c' } })
    await settled()
    const denied = deny('a')
    await settled()
    expect(replies).toEqual([])
    agent.emit('message.part.updated', part('c', 'bash', 'ses_1', { status: 'running', input: { command: 'run c' } }))
    await askedFor('c')
    await allow('c')
    expect(await denied).toEqual(yes)
    expect(replies.map(({ id }) => id)).toEqual(['per_c', 'per_a'])
  })

  test('waits for no ask whose call has ended, and not once its own has', async () => {
    await edit('a')
    await edit('b')
    const first = deny('a')
    open.delete('per_b')
    ended('b')
    expect(await first).toEqual(yes)
    expect(replies.map(({ id }) => id)).toEqual(['per_a'])
    await edit('d')
    await edit('e')
    const second = deny('d')
    ended('d')
    expect(await second).toEqual(yes)
    expect(open.has('per_e')).toBe(true)
  })

  test('waits no longer than its turn', async () => {
    agent.routes['POST /session/ses_1/prompt_async'] = (response) => { response.writeHead(204).end() }
    agent.routes['GET /session/ses_1/message'] = json([{ info: { id: 'msg_1', sessionID: 'ses_1', role: 'user', time: { created: 1 } }, parts: [] }])
    agent.routes['GET /session/status'] = json({ ses_1: { type: 'busy' } })
    await conversation.submit({ sessionId: 'ses_1', messageId: 'msg_1', partId: 'prt_1', text: 'do', system: 'sys' })
    await edit('a')
    await edit('b')
    const denied = deny('a')
    agent.routes['GET /session/ses_1/message'] = json([{ info: { id: 'msg_1', sessionID: 'ses_1', role: 'user', time: { created: 1 } }, parts: [] }, { info: { id: 'msg_2', sessionID: 'ses_1', role: 'assistant', parentID: 'msg_1', finish: 'stop', time: { created: 1, completed: 2 } }, parts: [] }])
    agent.routes['GET /session/status'] = json({})
    for (const id of ['a', 'b']) ended(id)
    agent.emit('session.idle', { sessionID: 'ses_1' })
    expect(await denied).toEqual(yes)
    await expect.poll(() => signals.at(-1)?.is).toBe('turn-ended')
    expect(replies).toEqual([])
  })

  test('waits no longer than OpenCode lives', async () => {
    await edit('a')
    await edit('b')
    const denied = deny('a')
    agent.exit(1, null)
    expect(await denied).toMatchObject({ ok: false, error: { code: 'opencode-exited' } })
    expect(replies).toEqual([])
  })

  test('keeps no edit away that was allowed', async () => {
    await edit('a')
    await edit('b')
    await edit('c')
    const denied = deny('a')
    expect(await allow('b')).toEqual(yes)
    const last = allow('c')
    await settled()
    expect(replies.map(({ id }) => id)).toEqual(['per_b'])
    ended('b')
    expect(await last).toEqual(yes)
    expect(await denied).toEqual(yes)
  })
})

describe('an allowed edit that is refused', () => {
  test('as its file changed is told at once, leaves the other asks waiting, and keeps no writer away', async () => {
    await edit('a')
    await edit('b')
    writeFileSync(join(dir, 'a'), 'changed')
    expect(await allow('a')).toMatchObject({ ok: false, error: { code: 'command-refused', todo: expect.stringContaining('when its other asks are answered') as string } })
    await settled()
    expect([...open.keys()]).toEqual(['per_a', 'per_b'])
    expect(await writers.command('c1', new AbortController().signal)).toBe(true)
    writers.commandEnded('c1')
    expect(await allow('b')).toEqual(yes)
    await expect.poll(() => replies.at(-1)).toMatchObject({ id: 'per_a', reply: 'reject' })
  })

  test('as its standing grant has ended leaves the other asks waiting, and keeps no writer away', async () => {
    await edit('a')
    await edit('b')
    const answered = conversation.answerPermission('per_a', { allow: true, stands: () => false })
    await settled()
    expect([...open.keys()]).toEqual(['per_a', 'per_b'])
    expect(await writers.command('c1', new AbortController().signal)).toBe(true)
    writers.commandEnded('c1')
    expect(await allow('b')).toEqual(yes)
    expect(await answered).toEqual(yes)
  })
})

test('an ask that came while a “reject” was under way went with it, by nobody else’s hand', async () => {
  await edit('a')
  let take = (): void => undefined
  gate = new Promise((resolve) => { take = resolve })
  const denied = deny('a')
  await expect.poll(() => agent.seen.some(({ path }) => path === '/permission/per_a/reply')).toBe(true)
  await edit('b')
  take()
  expect(await denied).toEqual(yes)
  expect(open.size).toBe(0)
  await settled()
})
