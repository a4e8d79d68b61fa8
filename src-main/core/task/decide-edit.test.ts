import { createTwoFilesPatch } from 'diff'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CallId } from '../../../src-preload/contract/ids.ts'
import { editDigest } from '../approval/edit-call.ts'
import { standingOffer } from '../approval/standing-grant.ts'
import { digestOfText } from '../digest.ts'
import type { TaskCommand } from './commands.ts'
import { brokenLaws } from './laws.ts'
import { fold } from './evolve.ts'
import { waitingHolds } from './model.ts'
import { aTask, playToWork, say, type Played } from './played.suite.ts'

type Ended = Extract<TaskCommand, { is: 'tool-ended' }>
const path = '/workspace/src/a.ts'
const write = (content: string, filePath = path): unknown => ({ filePath, content })
const call = (name: string): CallId => `call_${name}` as CallId
const diffOf = (after: string): string => createTwoFilesPatch(path, path, 'old\n', after)
const ask = (name: string, input: unknown, diff: string, tool = 'write'): TaskCommand => ({ is: 'permission-asked', permissionId: `per_${name}`, callId: call(name), permission: 'edit', patterns: [], command: null, files: [{ path, real: path }], diff, isolation: 'bubblewrap', edit: { tool, input, bases: [{ path, text: 'old\n' }] } })
const ended = (name: string, input: unknown, change: Partial<Ended> = {}): TaskCommand => ({ is: 'tool-ended', callId: call(name), tool: 'write', state: 'done', input: JSON.stringify(input), inputDigest: digestOfText(JSON.stringify(input)), inputBytes: 2, target: path, output: '', outputTruncated: false, exitCode: null, title: null, change: editDigest('write', input), ...change })
const began = (name: string): TaskCommand => ({ is: 'tool-started', callId: call(name), tool: 'write', target: path, input: '{}', inputDigest: digestOfText('{}'), inputBytes: 2 })
const asking = (edits: 'ask' | 'deny' | 'allow' = 'ask'): Played => playToWork(say.open({ task: { grant: { ...aTask.grant, edits } } }))
const approved = (input: unknown = write('new\n')): Played => {
  const task = asking().play(began('1'), say.toolStarted('other'), ask('1', input, diffOf('new\n')))
  task.decideHold('approved')
  return task
}
/** The owner approves, and gives a standing grant for the one file with it. */
const standing = (): Played => {
  const task = asking().play(began('0'), ask('0', write('new\n'), diffOf('new\n')))
  const hold = waitingHolds(task.state)[0]?.hold
  if (hold === undefined) throw new Error('no card')
  const choice = standingOffer(task.state.taskId, hold)?.choices[0]
  task.show(hold.approvalId)
  return task.play({ is: 'decide-hold', approvalId: hold.approvalId, digest: hold.digest, verdict: 'approved', reason: null, standing: choice?.digest ?? null }, ended('0', write('new\n')), began('1'), ask('1', write('newer\n'), diffOf('newer\n')))
}

describe('an edit that the owner approved', () => {
  it('goes on when what ran is what was approved', () => {
    const task = approved().play(ended('1', write('new\n')))
    expect([task.state.status, task.state.editLeaves.size, task.effects]).toEqual(['working', 0, []])
    expect(brokenLaws(task.history)).toEqual([])
  })

  it.each<[string, unknown]>([
    ['writes one byte more', write('new\n ')], ['writes into another file', write('new\n', '/workspace/b.ts')], ['says nothing of its change', {}], ['has half of a character', write('new\ud800')],
  ])('stops the run, and says so, when the call %s', (_what, input) => {
    const task = approved().play(ended('1', input, { input: '{}', inputDigest: digestOfText('{}') }))
    expect(task.state).toMatchObject({ status: 'failed', failure: { code: 'opencode-failed', message: expect.stringContaining('is not what was approved') as string } })
    expect(task.effects).toEqual([{ kind: 'coder.stop' }])
    expect([task.state.openTools.size, task.state.endedTools.has(call('1'))]).toEqual([0, true])
    expect(brokenLaws(task.history)).toEqual([])
  })

  it('stops the run however the call of other content ended, and though its beginning was not seen', () => {
    for (const state of ['failed', 'interrupted'] as const) expect(approved().play(ended('1', write('x'), { state })).state.status).toBe('failed')
    const unseen = asking().play(ask('1', write('new\n'), diffOf('new\n')))
    unseen.decideHold('approved')
    expect(unseen.play(ended('1', write('x'))).state.status).toBe('failed')
    expect(brokenLaws(unseen.history)).toEqual([])
  })

  it('stops the run, and says why, when it left something other than approved', () => {
    const task = approved().play(ended('1', write('new\n'), { strayed: '/workspace/src/a.ts leads elsewhere than when it was approved' }))
    expect(task.state).toMatchObject({ status: 'failed', failure: { message: 'What Bot B\'s call did is not what was approved: /workspace/src/a.ts leads elsewhere than when it was approved. The run was stopped.' } })
    expect(task.effects).toEqual([{ kind: 'coder.stop' }])
    expect(brokenLaws(task.history)).toEqual([])
  })

  it('is told, and no more, when the run is being stopped already', () => {
    const task = approved().play({ is: 'stop-task' }, ended('1', write('x')))
    expect(task.state.cancel).not.toBeNull()
    expect(task.events.at(-1)).toMatchObject({ type: 'noted', level: 'error', text: expect.stringContaining('is not what was approved') as string })
    expect([task.state.endedTools.has(call('1')), task.state.phase, task.state.failure, task.effects]).toEqual([true, 'stopping', null, []])
    expect(brokenLaws(task.history)).toEqual([])
  })

  it('binds one call: the leave of one covers no other', () => {
    const task = approved().play(ended('2', write('new\n')))
    expect(task.state.failure?.message).toContain('without a leave of yours')
  })

  it('is remembered by the journal: a state that is folded again compares alike', () => {
    const task = approved()
    const again = fold(task.history)
    expect([...(again?.editLeaves ?? [])]).toEqual([[call('1'), editDigest('write', write('new\n'))]])
  })

  it('lets nothing but its own input through, whatever that is', () => {
    fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const [a, b] = [{ filePath: path, content: 'new\n', more: one }, { filePath: path, content: 'new\n', more: other }]
      const same = editDigest('write', a) === editDigest('write', b)
      expect(approved(a).play(ended('1', b)).state.status).toBe(same ? 'working' : 'failed')
      expect(same).toBe(editDigest('write', one) === editDigest('write', other))
    }), { numRuns: 60 })
  })
})

describe('an edit that a standing grant covers', () => {
  it('is bound to its own call, too', () => {
    const task = standing()
    expect([waitingHolds(task.state).length, task.state.editLeaves.get(call('1'))]).toEqual([0, editDigest('write', write('newer\n'))])
    expect(task.play(ended('1', write('newer\n'))).state.status).toBe('working')
    expect(brokenLaws(task.history)).toEqual([])
  })

  it('stops the run when its call did something else', () => {
    const task = standing().play(ended('1', write('other\n')))
    expect(task.state).toMatchObject({ status: 'failed', failure: { message: expect.stringContaining('is not what was approved') as string } })
  })
})

describe('an edit without a leave', () => {
  it.each(['ask', 'deny'] as const)('stops the run when it was made although the task says %s', (edits) => {
    const task = asking(edits).play(began('1'), ended('1', write('new\n')))
    expect(task.state.failure?.message).toContain('without a leave of yours')
    expect(brokenLaws(task.history)).toEqual([])
  })

  it('stops the run when it was made while its card waits, or after it was denied', () => {
    const waits = (): Played => asking().play(began('1'), ask('1', write('new\n'), diffOf('new\n')))
    expect(waits().play(ended('1', write('new\n'))).state.status).toBe('failed')
    const denied = waits()
    denied.decideHold('denied')
    expect(denied.play(ended('1', write('new\n'))).state.status).toBe('failed')
  })

  it('is nothing to stop for when it was not made, when it is no edit, or when the task allows every edit', () => {
    expect(asking().play(began('1'), ended('1', write('x'), { state: 'failed' })).state.status).toBe('working')
    expect(asking().play(say.toolStarted('1'), say.toolEnded('1')).state.status).toBe('working')
    expect(asking('allow').play(began('1'), ended('1', write('x'))).state.status).toBe('working')
  })
})

describe('an edit that is asked for', () => {
  it('is denied, and the owner told, when it shows another change than its call would make', () => {
    const task = asking().play(began('1'), ask('1', write('new\n'), diffOf('harmless\n')))
    expect(task.effects).toMatchObject([{ kind: 'coder.answerPermission', allow: false, message: expect.stringContaining('what it shows is not what its call would do') as string }])
    expect(task.events.at(-1)).toMatchObject({ type: 'noted', level: 'warning' })
    expect([waitingHolds(task.state).length, task.state.status]).toEqual([0, 'working'])
  })

  it.each<[string, Partial<Extract<TaskCommand, { is: 'permission-asked' }>>]>([
    ['no call', { callId: null }], ['a call that nobody described', { edit: { tool: 'write', input: { content: '\ud800' }, bases: [] } }],
  ])('is denied when it names %s, for then nothing could be compared', (_what, change) => {
    const asked = ask('1', write('new\n'), diffOf('new\n'))
    const task = asking().play({ ...asked, ...change } as TaskCommand)
    expect([waitingHolds(task.state).length, task.effects]).toMatchObject([0, [{ allow: false }]])
  })

  it('says on its card what is bound', () => {
    const worded = (task: Played): string | undefined => waitingHolds(task.state)[0]?.hold.facts.find(({ label }) => label === 'Bound')?.value
    expect(worded(asking().play(ask('1', write('new\n'), diffOf('new\n'))))).toContain('this change of this call')
    expect(worded(asking().play(ask('1', { filePath: path, oldString: 'nowhere', newString: 'x' }, diffOf('new\n'), 'edit')))).toContain('could not be worked out a second time')
  })
})

describe('an edit that ends under the id of a call that has ended', () => {
  const again = (task: Played): Played => task.play(ended('1', write('other\n')))
  const after = (edits: 'ask' | 'deny' | 'allow'): Played => asking(edits).play(ended('1', write('new\n'), { state: edits === 'allow' ? 'done' : 'failed' }))

  it('stops the run where edits are asked for or denied, also when it was allowed: whose leave it had nobody can tell', () => {
    for (const edits of ['ask', 'deny'] as const) {
      const task = again(after(edits))
      expect(task.state).toMatchObject({ status: 'failed', failure: { code: 'opencode-failed', message: expect.stringContaining('the id of an earlier call') as string } })
      expect([task.effects, brokenLaws(task.history)]).toEqual([[{ kind: 'coder.stop' }], []])
    }
    const allowed = after('ask').play(ask('1', write('other\n'), diffOf('other\n')))
    allowed.decideHold('approved')
    expect(again(allowed).state.status).toBe('failed')
  })

  it('is on record, makes an earlier test run stale, and is told to the owner where edits are allowed', () => {
    const task = after('allow').play({ is: 'command-ran', text: 'bun test', cwd: '/workspace', exitCode: 0, refused: null, logDigest: digestOfText(''), logTail: '', durationMs: 1, limitHit: null })
    expect(task.state.lastTestRun).not.toBeNull()
    again(task)
    expect(task.state.status).toBe('working')
    expect(task.state.lastTestRun).toBeNull()
    expect(task.history.filter(({ payload }) => payload.type === 'tool-ended')).toHaveLength(2)
    expect(task.history.at(-1)?.payload).toMatchObject({ type: 'noted', level: 'warning' })
    const before = task.history.length
    again(task)
    expect(task.history, 'its double').toHaveLength(before)
    expect(brokenLaws(task.history)).toEqual([])
  })

  it('is a double when it is the same edit, or none that was made', () => {
    const task = after('ask')
    const before = task.history.length
    task.play(ended('1', write('new\n')), ended('1', write('other\n'), { state: 'interrupted' }), ended('1', write('other\n'), { tool: 'read', change: null }))
    expect(task.history).toHaveLength(before)
  })
})
