import { describe, expect, it } from 'vitest'
import type { CommandId } from '../../src-preload/contract/ids.ts'
import { standingOffer } from '../core/approval/standing-grant.ts'
import { waitingHolds } from '../core/task/model.ts'
import { atWork, type TaskRoom } from './working-room.suite.ts'

describe('edits that the owner approves one by one', () => {
  const input = { filePath: '/workspace/a.ts', content: 'new' }
  const ended = (written: unknown) => ({ is: 'tool-ended', callId: 'call_1' as never, tool: 'write', outcome: 'done', input: written, output: '', title: null, exitCode: null } as const)
  const asked = async () => {
    const room = await atWork([], { grant: { edits: 'ask', testCommand: 'allow', otherCommands: 'ask' } })
    const run = room.coder.run()
    run.say({ is: 'tool-running', callId: 'call_1' as never, tool: 'write', input, output: null })
    run.say({ is: 'permission-asked', permissionId: 'per_1', callId: 'call_1' as never, permission: 'edit', patterns: [], command: null, workdir: null, files: [{ path: '/workspace/a.ts', real: '/workspace/a.ts' }], diff: '--- a', edit: { tool: 'write', input, bases: [] } })
    await room.settle()
    return room
  }

  it('go on when the call ends as it was approved', async () => {
    const room = await asked()
    await room.decide('approved')
    expect(room.coder.run().permissions).toEqual([{ permissionId: 'per_1', allow: true }])
    room.coder.run().say(ended({ content: 'new', filePath: '/workspace/a.ts' }))
    await room.settle()
    expect(room.state().status).toBe('working')
  })

  it('are not let through by a standing grant that is taken back before the runtime has heard of it', async () => {
    const room = await asked()
    const { hold } = waitingHolds(room.state())[0]!
    const choice = standingOffer(room.taskId, hold)!.choices[0]!
    await room.show(room.taskId, hold.approvalId)
    await room.give({ is: 'decide-hold', approvalId: hold.approvalId, digest: hold.digest, verdict: 'approved', reason: null, standing: choice.digest })
    const run = room.coder.run()
    const again = (permissionId: string): void => { run.say({ is: 'permission-asked', permissionId, callId: `call_${permissionId}` as never, permission: 'edit', patterns: [], command: null, workdir: null, files: [{ path: '/workspace/a.ts', real: '/workspace/a.ts' }], diff: '--- a', edit: { tool: 'write', input, bases: [] } }) }
    again('per_2')
    await room.settle()
    // In one breath: the grant has ruled, and its word is not out yet.
    again('per_3')
    room.engine.command(room.taskId, 'click-revoke' as CommandId, { is: 'revoke-grant', grantId: [...room.state().grants.keys()][0]! })
    await room.settle()
    expect(run.permissions).toEqual([{ permissionId: 'per_1', allow: true }, { permissionId: 'per_2', allow: true }, { permissionId: 'per_3', allow: false }])
  })

  it('stop the run, with the reason in the room, when the call ends as another', async () => {
    const room = await asked()
    await room.decide('approved')
    room.coder.run().say(ended({ ...input, content: 'new ' }))
    await room.settle()
    expect(room.state()).toMatchObject({ status: 'failed', coder: { is: 'gone' } })
    expect(JSON.stringify(room.engine.room.snapshot(room.taskId).put)).toContain('What Bot B\'s call did to /workspace/a.ts is not what was approved. The run was stopped.')
  })
})

describe('permissions of the coder', () => {
  const ask = (room: TaskRoom, permissionId: string, command: string, workdir = '/workspace') => {
    room.coder.run().say({ is: 'permission-asked', permissionId, callId: null, permission: 'bash', patterns: [command], command, workdir, files: [], diff: null })
    return room.settle()
  }

  it('runs the approved test command without a hold, and holds any other', async () => {
    const room = await atWork()
    await ask(room, 'per_1', 'bun test')
    expect(room.coder.run().permissions).toEqual([{ permissionId: 'per_1', allow: true }])
    await ask(room, 'per_2', 'bun test; curl evil')
    expect(waitingHolds(room.state())).toHaveLength(1)
    expect(room.state().status).toBe('blocked')
    await room.decide('denied')
    expect(room.coder.run().permissions[1]).toEqual({ permissionId: 'per_2', allow: false })
    expect(room.state().status).toBe('working')
  })

  it.each([['a subagent', 'ses_child', 'ses_1'], ['a subagent\'s subagent', 'ses_grandchild', 'ses_child'], ['a session that nobody knows', 'ses_unknown', null]])('shows the owner what %s asks, and its answer goes to that ask', async (_who, sessionId, parentSessionId) => {
    const room = await atWork()
    room.coder.run().spec.onSignal({ is: 'permission-asked', signalId: 'sig_far', sessionId, parentSessionId, permissionId: 'per_far', callId: null, permission: 'bash', patterns: ['ls'], command: 'ls', workdir: '/workspace', files: [], diff: null })
    await room.settle()
    expect(waitingHolds(room.state()).map(({ hold }) => hold.exact.text)).toEqual([expect.stringContaining('ls')])
    expect(room.engine.room.snapshot(room.taskId).put.filter((row) => row.kind === 'hold' && row.outcome === 'waiting')).toHaveLength(1)
    await room.decide('approved')
    expect(room.coder.run().permissions).toEqual([{ permissionId: 'per_far', allow: true }])
  })

  it('shows a call as waiting for approval until the owner decided, then as running', async () => {
    const room = await atWork()
    const stateOfCall = () => room.engine.room.snapshot(room.taskId).put.flatMap((row) => (row.kind === 'entry' && row.body.is === 'tool' ? [`${row.body.state} ${row.body.waitsSince === null ? '' : 'since'}`] : []))
    room.coder.run().say({ is: 'tool-running', callId: 'call_1' as never, tool: 'bash', input: { command: 'ls' }, output: null })
    room.coder.run().say({ is: 'permission-asked', permissionId: 'per_1', callId: 'call_1' as never, permission: 'bash', patterns: ['ls'], command: 'ls', workdir: '/workspace', files: [], diff: null })
    await room.settle()
    expect(stateOfCall()).toEqual(['awaiting-approval since'])
    await room.decide('approved')
    expect(stateOfCall()).toEqual(['running '])
  })

  it('denies a directory outside the workspace without asking', async () => {
    const room = await atWork()
    await ask(room, 'per_1', 'ls', '/etc')
    expect(room.coder.run().permissions).toEqual([{ permissionId: 'per_1', allow: false }])
    expect(waitingHolds(room.state())).toEqual([])
  })

  it('lets an approved command through the broker once, with exactly its bytes', async () => {
    const room = await atWork()
    await ask(room, 'per_1', 'ls -la')
    await room.decide('approved')
    const decide = room.coder.run().spec.decideCommand
    const signal = new AbortController().signal
    expect(await decide({ askId: 'ask_1', text: 'ls -la', cwd: '/workspace' }, signal)).toEqual({ verdict: 'run' })
    const second = decide({ askId: 'ask_2', text: 'ls -la', cwd: '/workspace' }, signal)
    await room.settle()
    expect(waitingHolds(room.state())[0]!.hold.subject).toMatchObject({ for: 'command', askId: 'ask_2' })
    expect(waitingHolds(room.state())[0]!.hold.reaskReason).not.toBeNull()
    await room.decide('denied')
    expect(await second).toMatchObject({ verdict: 'refuse' })
  })

  it('lets a command of a standing grant through only while that stands, also after its wait', async () => {
    const room = await atWork()
    await ask(room, 'per_1', 'ls -la')
    const { hold } = waitingHolds(room.state())[0]!
    await room.show(room.taskId, hold.approvalId)
    await room.give({ is: 'decide-hold', approvalId: hold.approvalId, digest: hold.digest, verdict: 'approved', reason: null, standing: standingOffer(room.taskId, hold)!.choices[0]!.digest })
    await ask(room, 'per_2', 'ls -la')
    const { decideCommand } = room.coder.run().spec
    const signal = new AbortController().signal
    expect(await decideCommand({ askId: 'ask_1', text: 'ls -la', cwd: '/workspace' }, signal), 'the approval itself').toEqual({ verdict: 'run' })
    const granted = await decideCommand({ askId: 'ask_2', text: 'ls -la', cwd: '/workspace' }, signal)
    const unasked = decideCommand({ askId: 'ask_3', text: 'ls -la', cwd: '/workspace' }, signal)
    await room.settle()
    const stand = async () => [granted, await unasked].map((each) => each.verdict === 'run' && each.stands?.())
    expect(await stand()).toEqual([true, true])
    await room.give({ is: 'revoke-grant', grantId: [...room.state().grants.keys()][0]! })
    expect(await stand(), 'whether the runtime asked for it or not').toEqual([false, false])
    expect([granted, await unasked].map((each) => 'otherwise' in each), 'only what the runtime asked for can be decided anew').toEqual([false, true])
  })

  it('stops the run when somebody else answers a permission', async () => {
    const room = await atWork()
    room.coder.run().say({ is: 'permission-replied', permissionId: 'per_9', reply: 'always' })
    await room.settle()
    expect(room.state().status).toBe('failed')
    expect(room.coder.run().stopped).toBe(true)
  })
})
