import { expect, it } from 'vitest'
import { rowKey, type ToolBody } from '../../src-preload/contract/rows.ts'
import { atWork, type TaskRoom } from './working-room.suite.ts'

const edit = { is: 'edit', callId: 'call_edit' as never } as const
const command = (text: string, askId = 'ask_1') => ({ is: 'command', askId, text } as const)
const begin = async (room: TaskRoom, callId: string, tool: 'write' | 'bash', input: unknown): Promise<void> => {
  room.coder.run().say({ is: 'tool-running', callId: callId as never, tool, input, output: null })
  await room.settle()
}
const body = (room: TaskRoom, callId = 'call_edit'): ToolBody => {
  const row = room.engine.room.get(room.taskId, rowKey.tool(room.taskId, callId))
  if (row?.kind !== 'entry' || row.body.is !== 'tool') throw new Error('no such call')
  return row.body
}
const editing = async (): Promise<TaskRoom> => {
  const room = await atWork()
  await begin(room, 'call_edit', 'write', { filePath: '/workspace/a.ts', content: 'new' })
  return room
}

it('an edit that waits says on its row for what and since when, keeps its beginning, and says nothing any more once it goes on', async () => {
  const room = await editing()
  const { onWriteWait } = room.coder.run().spec
  const since = room.time.now()
  onWriteWait({ of: edit, for: 'command' })
  expect(body(room)).toMatchObject({ state: 'running', waits: { for: 'command', since } })
  await room.time.advance(60_000)
  onWriteWait({ of: edit, for: 'edit' })
  expect(body(room).waits).toEqual({ for: 'edit', since })
  onWriteWait({ of: edit, for: null })
  expect(body(room).waits).toBeNull()
  expect(JSON.stringify([...room.journal.read(room.taskId)])).not.toContain('"waits"')
})

it.each([['by its own end', (room: TaskRoom) => { room.coder.run().say({ is: 'tool-ended', callId: edit.callId, tool: 'write', outcome: 'failed', input: {}, output: '', title: null, exitCode: null }) }], ['by the end of its process', (room: TaskRoom) => { room.coder.run().say({ is: 'exited', code: 1, signal: null }) }]])('a call that ends %s waits for nothing', async (_how, end) => {
  const room = await editing()
  room.coder.run().spec.onWriteWait({ of: edit, for: 'command' })
  end(room)
  await room.settle()
  expect(body(room).waits).toBeNull()
  expect(body(room).endedAt).not.toBeNull()
})

it('a command that waits for an edit says so on its own row: the one with its text, or the only one that runs', async () => {
  const room = await editing()
  await begin(room, 'call_a', 'bash', { command: 'bun test\nbun lint' })
  await begin(room, 'call_b', 'bash', { command: 'ls' })
  const { onWriteWait } = room.coder.run().spec
  onWriteWait({ of: command('bun test\nbun lint'), for: 'edit' })
  onWriteWait({ of: command('cat other', 'ask_2'), for: 'edit' })
  expect(body(room, 'call_a').waits).toMatchObject({ for: 'edit' })
  expect(body(room, 'call_b').waits, 'the only other one').toMatchObject({ for: 'edit' })
  onWriteWait({ of: command('bun test\nbun lint'), for: null })
  expect(body(room, 'call_a').waits).toBeNull()
  expect(body(room, 'call_b').waits).toMatchObject({ for: 'edit' })
})

it('says it of no row where it is not known which of two commands it is', async () => {
  const room = await editing()
  await begin(room, 'call_a', 'bash', { command: 'ls' })
  await begin(room, 'call_b', 'bash', { command: 'ls -l' })
  room.coder.run().spec.onWriteWait({ of: command('cat other'), for: 'edit' })
  expect([body(room, 'call_a').waits, body(room, 'call_b').waits]).toEqual([null, null])
})
