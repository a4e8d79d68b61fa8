import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { observedSchema, observerAllowed, observerScript } from './observer-script.ts'
import { withObserver } from './orders.ts'

type Hook = (input: unknown) => Promise<void>
let dir: string
let hook: Hook
let written: string[]
let refuse: () => boolean
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'observer-'))
  await writeFile(join(dir, 'o.mjs'), observerScript)
  const loaded = await import(join(dir, 'o.mjs')) as { CountersignObserver: () => Promise<{ event: Hook }> }
  hook = (await loaded.CountersignObserver()).event
  written = []
  refuse = () => false
  vi.spyOn(process.stdout, 'write').mockImplementation((bytes) => { if (refuse()) throw Object.assign(new Error('try again'), { code: 'EAGAIN' }); written.push(String(bytes)); return true })
})
afterEach(async () => { vi.restoreAllMocks(); await rm(dir, { recursive: true, force: true }) })

const part = (id: string, status: string, input: object = {}): object => ({ event: { type: 'message.part.updated', properties: { part: { id, sessionID: 'ses_1', messageID: 'msg_1', type: 'tool', tool: 'write', callID: `call_${id}`, state: { status, input } } } } })
const lines = (): unknown[] => written.map((line) => JSON.parse(line) as unknown)

describe('the observer', () => {
  test('says ids, tool and file of calls that are pending or running, once each, and never contents', async () => {
    await hook(part('p1', 'pending'))
    for (let update = 0; update < 3; update += 1) await hook(part('p1', 'running', { filePath: '/workspace/a', content: 'CONTENT-CANARY' }))
    await hook(part('p1', 'pending'))
    await hook(part('p1', 'completed', { filePath: '/workspace/a', content: 'CONTENT-CANARY' }))
    await hook(part('p2', 'running', { command: 'CONTENT-CANARY' }))
    expect(lines()).toEqual([
      { type: 'countersign.call', version: 1, state: 'pending', sessionID: 'ses_1', messageID: 'msg_1', partID: 'p1', callID: 'call_p1', tool: 'write' },
      { type: 'countersign.call', version: 1, state: 'running', sessionID: 'ses_1', messageID: 'msg_1', partID: 'p1', callID: 'call_p1', tool: 'write', file: '/workspace/a' },
      { type: 'countersign.call', version: 1, state: 'running', sessionID: 'ses_1', messageID: 'msg_1', partID: 'p2', callID: 'call_p2', tool: 'write' },
    ])
    expect(lines().every((line) => observedSchema.safeParse(line).success)).toBe(true)
    expect(observerScript).not.toMatch(/^\s*import\b|\brequire\(|\bimport\(/m)
  })

  test('says nothing of anything else, and no event can make it throw', async () => {
    const trap = new Proxy({}, { get() { throw new Error('a trap') } })
    for (const input of [undefined, null, {}, { event: null }, { event: { type: 'session.idle' } }, { event: { type: 'message.part.updated' } }, { event: { type: 'message.part.updated', properties: { part: { type: 'text', text: 'x' } } } }, { event: { type: 'message.part.updated', properties: { part: { type: 'tool' } } } }, { event: trap }, trap]) await expect(hook(input)).resolves.toBeUndefined()
    const circular = part('p1', 'pending') as { event: { properties: { part: Record<string, unknown> } } }
    circular.event.properties.part['callID'] = circular
    await expect(hook(circular)).resolves.toBeUndefined()
    expect(written).toEqual([])
    await hook(part('p2', 'pending'))
    expect(lines(), 'the trap twice, the circle once').toMatchObject([{ partID: 'p2', missed: 3 }])
    expect(observedSchema.safeParse(lines()[0]).success).toBe(true)
  })

  test('keeps what stdout refuses, in order, and says it with the next event; of a stdout that stays shut it keeps the newest only', async () => {
    refuse = () => true
    await hook(part('p1', 'pending'))
    await hook(part('p2', 'pending'))
    refuse = () => false
    await hook({ event: { type: 'session.idle' } })
    expect(lines()).toMatchObject([{ partID: 'p1' }, { partID: 'p2' }])
    refuse = () => true
    for (let at = 0; at < 200; at += 1) await hook(part(`q${String(at)}`, 'pending'))
    refuse = () => false
    await hook({})
    expect(lines().slice(2)).toHaveLength(64)
    expect(lines().at(-1)).toMatchObject({ partID: 'q199' })
  })
})

describe('the observer is given', () => {
  test.each(['1.17.18', '1.18.30', '1.99.0'])('to %s', (version) => { expect(observerAllowed(version, {})).toEqual({ ok: true, value: null }) })
  test.each([['1.17.17', 'too old'], ['0.15.0', 'too old'], ['2.0.0', 'new generation'], ['1.19.0-beta', 'pre-release'], ['', 'no version'], ['unknown', 'no version']])('not to “%s”, and says why', (version, why) => {
    expect(observerAllowed(version, {})).toMatchObject({ ok: false, error: expect.stringContaining(why) as string })
  })
  test.each([['1', false], ['true', false], ['0', true], ['false', true], ['', true]])('with OPENCODE_PURE=%s: %s', (pure, given) => {
    expect(observerAllowed('1.18.30', { OPENCODE_PURE: pure }).ok).toBe(given)
  })
  test('beside the plugins that a configuration has, in their order, once', () => {
    const config = { plugin: ['a', 'file:///b.mjs'], instructions: ['i'], model: 'm' }
    expect(withObserver(config, '/o.mjs')).toEqual({ ...config, plugin: ['a', 'file:///b.mjs', 'file:///o.mjs'] })
    expect(withObserver(withObserver(config, '/o.mjs'), '/o.mjs').plugin).toHaveLength(3)
    expect(config.plugin).toHaveLength(2)
  })
})
