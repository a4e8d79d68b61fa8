import { describe, expect, it } from 'vitest'
import type { CallId } from '../../src-preload/contract/ids.ts'
import type { HoldRow } from '../../src-preload/contract/rows.ts'
import { createMemoryJournal } from '../adapters/memory/memory-journal.ts'
import { leadSays, openScriptedRoom, type ScriptedRoom } from '../adapters/memory/scripted-room.ts'
import { createRedactor } from '../adapters/system/redaction.ts'
import { waitingHolds } from '../core/task/model.ts'
import { holdRow } from '../core/task/rows/task-row.ts'

// The journal keeps no key. A model may write what looks like one, so that what stands behind it is not on the card either.
const keyLooking = ["'-----BEGIN RSA PRIVATE KEY-----'; rm -rf src", 'Bearer aGlkZGVuIGNvbW1hbmQgaGVyZQ==', 'sk-0123456789abcdefghij; rm -rf src', 'AKIAABCDEFGHIJKLMNOP'] as const
const secret = 'the-owners-own-secret-word'

async function roomWith({ edits = 'allow', secrets = [], testCommand }: { readonly edits?: 'ask' | 'allow'; readonly secrets?: readonly string[]; readonly testCommand?: string } = {}) {
  const room = await openScriptedRoom({ leadAnswers: [leadSays.brief], journal: () => createMemoryJournal(createRedactor(() => secrets)) })
  const taskId = await room.create({ grant: { edits, testCommand: 'allow', otherCommands: 'ask' }, ...(testCommand === undefined ? {} : { testCommand }) })
  return { room, taskId }
}

const waiting = (room: ScriptedRoom, taskId: Awaited<ReturnType<ScriptedRoom['create']>>): readonly string[] => waitingHolds(room.state(taskId)).map(({ hold }) => hold.exact.text)

const cards = (room: ScriptedRoom, taskId: Awaited<ReturnType<ScriptedRoom['create']>>): readonly HoldRow[] => waitingHolds(room.state(taskId)).map((record) => holdRow(room.state(taskId), record))

describe('what no card can show whole, since it holds what looks like a key', () => {
  it.each(keyLooking)('runs at no broker: %s', async (hidden) => {
    const { room, taskId } = await roomWith()
    await room.decide(taskId, 'approved')
    const verdict = room.coder.run().spec.decideCommand({ askId: 'ask_1', text: `grep ${hidden}`, cwd: '/workspace' }, new AbortController().signal)
    await room.settle()
    expect(waiting(room, taskId)).toEqual([])
    expect(await verdict).toMatchObject({ verdict: 'refuse', reason: expect.stringContaining('cannot be shown whole') as string })
  })

  it.each(keyLooking)('is asked of nobody and denied: %s', async (hidden) => {
    const { room, taskId } = await roomWith()
    await room.decide(taskId, 'approved')
    room.coder.run().say({ is: 'permission-asked', permissionId: 'per_1', callId: null, permission: 'bash', patterns: [], command: `grep ${hidden}`, workdir: '/workspace', files: [], diff: null })
    await room.settle()
    expect(waiting(room, taskId)).toEqual([])
    expect(room.coder.run().permissions).toMatchObject([{ permissionId: 'per_1', allow: false }])
  })

  it.each(keyLooking)('is no edit that could be approved: %s', async (hidden) => {
    const { room, taskId } = await roomWith({ edits: 'ask' })
    await room.decide(taskId, 'approved')
    const content = `const k = ${hidden}\nrequire('child_process')\n`
    const input = { filePath: '/workspace/a.ts', content }
    const diff = `Index: /workspace/a.ts\n===\n--- /workspace/a.ts\n+++ /workspace/a.ts\n@@ -0,0 +1,2 @@\n${content.trimEnd().split('\n').map((line) => `+${line}`).join('\n')}\n`
    const run = room.coder.run()
    run.say({ is: 'tool-running', callId: 'call_1' as CallId, tool: 'write', input, output: null })
    run.say({ is: 'permission-asked', permissionId: 'per_1', callId: 'call_1' as CallId, permission: 'edit', patterns: [], command: null, workdir: null, files: [{ path: '/workspace/a.ts', real: '/workspace/a.ts' }], diff, edit: { tool: 'write', input, bases: [{ path: '/workspace/a.ts', text: null }] } })
    await room.settle()
    expect(waiting(room, taskId)).toEqual([])
    expect(run.permissions).toMatchObject([{ permissionId: 'per_1', allow: false }])
  })

  it.each(keyLooking)('is no test command of a task: %s', async (hidden) => {
    await expect(roomWith({ testCommand: `TOKEN="${hidden}" npm test` })).rejects.toThrow('The test command holds what looks like a key')
  })

  it('is a card that can be denied only, where a key of the owner\u2019s own hides a part of it', async () => {
    const { room, taskId } = await roomWith({ secrets: [secret] })
    await room.decide(taskId, 'approved')
    const verdict = room.coder.run().spec.decideCommand({ askId: 'ask_1', text: `echo ${secret}`, cwd: '/workspace' }, new AbortController().signal)
    await room.settle()
    expect(waiting(room, taskId)).toEqual(['echo [redacted]'])
    expect(cards(room, taskId)).toMatchObject([{ standing: null, denyOnly: { code: 'digest-mismatch', todo: 'Deny it, and have it asked again without the key.' } }])
    expect(await room.decide(taskId, 'approved')).toMatchObject({ ok: false, error: { code: 'digest-mismatch' } })
    expect(await room.decide(taskId, 'denied')).toMatchObject({ ok: true })
    expect(await verdict).toMatchObject({ verdict: 'refuse' })
  })

  it('is a brief with the mark in its place: the card shows what Bot B gets, and it can be approved', async () => {
    const room = await openScriptedRoom({ leadAnswers: [JSON.stringify({ ...JSON.parse(leadSays.brief) as object, goal: `Use ${keyLooking[3]} here.` })], journal: () => createMemoryJournal(createRedactor(() => [])) })
    const taskId = await room.create()
    await room.settle()
    expect(waiting(room, taskId)[0]).toContain('Use [redacted] here.')
    expect(cards(room, taskId)[0]).not.toHaveProperty('denyOnly')
    expect(await room.decide(taskId, 'approved')).toMatchObject({ ok: true })
  })
})
