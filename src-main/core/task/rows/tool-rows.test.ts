import { describe, expect, it } from 'vitest'
import type { CallId } from '../../../../src-preload/contract/ids.ts'
import { stoppedEarly } from '../../../../src-preload/contract/limits.ts'
import type { EntryBody, Row } from '../../../../src-preload/contract/rows.ts'
import { digestOfText } from '../../digest.ts'
import type { TaskCommand } from '../commands.ts'
import { playToWork, say, type Played } from '../played.suite.ts'
import { project } from './project.ts'

/** Plays on and draws each step, as the room does. */
function drawn(): { play(...commands: TaskCommand[]): void; decide(verdict: 'approved' | 'denied'): void; bodies(is: EntryBody['is']): EntryBody[]; readonly task: Played } {
  const task = playToWork()
  const rows = new Map<string, Row>()
  let seen = task.history.length
  const draw = (): void => {
    for (const event of task.history.slice(seen)) for (const row of project(task.state, event.payload, { at: 5, order: seen, get: (key) => rows.get(key) })) rows.set(row.key, row)
    seen = task.history.length
  }
  return {
    task,
    play: (...commands) => { for (const command of commands) { task.play(command); draw() } },
    decide: (verdict) => { task.decideHold(verdict); draw() },
    bodies: (is) => [...rows.values()].flatMap((row) => (row.kind === 'entry' && row.body.is === is ? [row.body] : [])),
  }
}

const asked: TaskCommand = { is: 'permission-asked', permissionId: 'per_1', callId: 'call_1' as CallId, permission: 'bash', patterns: ['rm -rf src'], command: { text: 'rm -rf src', cwd: '/workspace' }, files: [], diff: null, isolation: 'x' }
const ran = (limitHit: string): TaskCommand => ({ is: 'command-ran', text: 'sleep 9', cwd: '/workspace', exitCode: null, refused: null, logDigest: digestOfText('log'), logTail: '', durationMs: 1, limitHit })

describe('the row of a call that asks', () => {
  it('says that it was not allowed from the denial on, and never that it runs, until its runtime has ended it', () => {
    const room = drawn()
    room.play(say.toolStarted('call_1'), asked)
    expect(room.bodies('tool')).toMatchObject([{ state: 'awaiting-approval' }])
    room.decide('denied')
    expect(room.bodies('tool')).toMatchObject([{ state: 'running', waits: { for: 'refusal', since: 5 } }])
    room.play(say.toolEnded('call_1'))
    expect(room.bodies('tool')).toMatchObject([{ waits: null }])
  })

  it('runs once it was approved', () => {
    const room = drawn()
    room.play(say.toolStarted('call_1'), asked)
    room.decide('approved')
    expect(room.bodies('tool')).toMatchObject([{ state: 'running', waits: null }])
  })
})

describe('a command that was ended', () => {
  const warnings = (room: ReturnType<typeof drawn>): unknown[] => room.bodies('notice').filter((body) => body.is === 'notice' && body.level === 'warning')

  it('by a limit says which, and what to do', () => {
    const room = drawn()
    room.play(ran('used more than 4 GiB of memory'))
    expect(warnings(room)).toMatchObject([{ text: 'Bot B\'s command ended: it used more than 4 GiB of memory.', todo: expect.stringContaining('Settings → Isolation') as string }])
  })

  it('by its caller passed no limit, and nothing is advised about one', () => {
    const room = drawn()
    room.play(ran(stoppedEarly))
    expect(warnings(room)).toMatchObject([{ text: 'Bot B\'s command ended: it was stopped before it ended.', todo: null }])
  })

  it('by the stop of its task needs no warning: the stop says it', () => {
    const room = drawn()
    room.play({ is: 'stop-task' }, ran(stoppedEarly))
    expect(warnings(room)).toEqual([])
  })
})
