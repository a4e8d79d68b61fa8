import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CallId } from '../../../src-preload/contract/ids.ts'
import type { CoderSignal, WriteWait } from '../../engine/ports.ts'
import { createEditWatch, type EditWatch } from './edit-watch.ts'
import { createWriteTurns, type WriteTurns } from './write-turns.ts'

let workspace: string
let turns: WriteTurns
let watch: EditWatch
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'edits-'))
  turns = createWriteTurns()
  watch = createEditWatch(workspace, '/workspace', turns)
  for (const folder of ['d', 'other']) mkdirSync(join(workspace, folder))
  write('d/f', 'old\n')
})
afterEach(() => { rmSync(workspace, { recursive: true, force: true }) })

const write = (path: string, text: string): void => { writeFileSync(join(workspace, path), text) }
const swap = (): void => { renameSync(join(workspace, 'd'), join(workspace, 'd.was')); symlinkSync('other', join(workspace, 'd')) }
const of = { sessionId: 'ses', parentSessionId: null } as const
const callId = 'call_1' as CallId
const ask = (tool = 'write', input: unknown = { filePath: '/workspace/d/f', content: 'new\n' }, paths: readonly string[] = ['/workspace/d/f']): CoderSignal => watch.seen({ ...of, signalId: 'ask', is: 'permission-asked', permissionId: 'per', callId, permission: 'edit', patterns: [], command: null, workdir: null, files: paths.map((path) => ({ path, real: null })), diff: '', edit: { tool, input, bases: [] } })
const end = (outcome: 'done' | 'failed' | 'interrupted' = 'done'): CoderSignal => watch.seen({ ...of, signalId: 'end', is: 'tool-ended', callId, tool: 'write', outcome, input: {}, output: '', title: null, exitCode: null })
const turnEnded: CoderSignal = { ...of, signalId: 'over', is: 'turn-ended', messageId: 'msg', outcome: 'completed', finish: null, text: '', error: null, errorCode: null }
/** Resolves when another edit may be made: nobody is kept away. */
const othersMay = (): Promise<boolean> => turns.edit('another')

describe('an edit that is let through', () => {
  test('goes on while what it was asked about is there, and ends as it was approved', async () => {
    expect(ask()).toMatchObject({ files: [{ path: '/workspace/d/f', real: '/workspace/d/f' }], edit: { bases: [{ path: '/workspace/d/f', text: 'old\n' }] } })
    expect(await watch.letThrough('per')).toBeNull()
    write('d/f', 'new\n')
    expect(end()).not.toHaveProperty('strayed')
  })

  test.each<[string, () => void, string]>([
    ['its folder became a link inside the workspace', swap, '/workspace/d/f leads elsewhere than when it was asked for'],
    ['its file became a link', () => { unlinkSync(join(workspace, 'd/f')); symlinkSync('../other/f', join(workspace, 'd/f')) }, '/workspace/d/f leads elsewhere than when it was asked for'],
    ['its file was changed', () => { write('d/f', 'else\n') }, '/workspace/d/f was changed after it was asked for'],
    ['its file is none any more', () => { unlinkSync(join(workspace, 'd/f')); mkdirSync(join(workspace, 'd/f')) }, '/workspace/d/f cannot be compared with what it was when it was asked for'],
    ['its file is gone', () => { unlinkSync(join(workspace, 'd/f')) }, '/workspace/d/f was changed after it was asked for'],
  ])('does not go on when %s since it was asked for, and keeps nobody away', async (_what, change, why) => {
    ask()
    change()
    expect(await watch.letThrough('per')).toEqual({ changed: why })
    expect(await othersMay()).toBe(true)
  })

  test.each<[string, string, () => void]>([
    ['when it was asked for', '/workspace/way/f', () => { unlinkSync(join(workspace, 'way')); mkdirSync(join(workspace, 'way')) }],
    ['when it was asked for and still', '/workspace/way/f', () => undefined],
    ['now', '/workspace/later/f', () => { rmSync(join(workspace, 'later'), { recursive: true }); write('later', '') }],
  ])('does not go on when something that cannot be on its way stood there %s: nothing could be compared afterwards', async (_when, path, change) => {
    write('way', '')
    mkdirSync(join(workspace, 'later'))
    ask('write', { filePath: path, content: 'new\n' }, [path])
    change()
    expect(await watch.letThrough('per')).toEqual({ changed: `${path} cannot be compared with what it was when it was asked for` })
    expect(await othersMay()).toBe(true)
  })

  test('waits for a command that runs, says so, and looks only then', async () => {
    const waits: WriteWait[] = []
    watch = createEditWatch(workspace, '/workspace', turns, (wait) => { waits.push(wait) })
    ask()
    await turns.command('c1', new AbortController().signal)
    const answer = watch.letThrough('per')
    swap()
    expect(waits).toEqual([{ of: { is: 'edit', callId }, for: 'command' }])
    turns.commandEnded('c1')
    expect(await answer).toEqual({ changed: '/workspace/d/f leads elsewhere than when it was asked for' })
    expect(waits.slice(1)).toEqual([{ of: { is: 'edit', callId }, for: null }])
  })

  test.each(['done', 'failed', 'interrupted'] as const)('keeps commands away until it has ended: %s', async (outcome) => {
    ask()
    expect(await watch.letThrough('per')).toBeNull()
    let began = false
    const command = turns.command('c1', new AbortController().signal).then(() => { began = true })
    await Promise.resolve()
    expect(began).toBe(false)
    write('d/f', 'new\n')
    end(outcome)
    await command
  })

  test.each<[string, () => unknown]>([['the turn ends', () => watch.seen(turnEnded)], ['it is known not to have been made', () => { watch.notMade('per') }]])('keeps nobody away any more when %s', async (_what, over) => {
    ask()
    await watch.letThrough('per')
    over()
    expect(await othersMay()).toBe(true)
  })

  test('is not waited for when the agent is gone', async () => {
    ask()
    await turns.command('c1', new AbortController().signal)
    const answer = watch.letThrough('per')
    watch.seen({ ...of, signalId: 'exit', is: 'exited', code: 0, signal: null })
    expect(await answer).toBe('gone')
  })
})

describe('what an edit left', () => {
  const strayed = async (change: () => void, ...asked: Parameters<typeof ask>): Promise<unknown> => {
    ask(...asked)
    expect(await watch.letThrough('per')).toBeNull()
    change()
    const ended = end()
    return ended.is === 'tool-ended' ? ended.strayed : null
  }

  test('is told when it landed elsewhere through a link that was swapped in, whether that is still there or not', async () => {
    expect(await strayed(() => { swap(); write('d/f', 'new\n') })).toBe('/workspace/d/f leads elsewhere than when it was approved')
    unlinkSync(join(workspace, 'd'))
    renameSync(join(workspace, 'd.was'), join(workspace, 'd'))
    expect(await strayed(() => { write('other/f', 'new\n') })).toBe('/workspace/d/f does not hold what was approved')
  })

  test('is told when it is other than what the call says, and not for line ends or a byte order mark', async () => {
    expect(await strayed(() => { write('d/f', 'new \n') })).toBe('/workspace/d/f does not hold what was approved')
    write('d/f', 'old\n')
    expect(await strayed(() => { write('d/f', '\uFEFFnew\r\n') })).toBeUndefined()
  })

  test('of a patch: what is taken away and moved must be gone, what is added must be there', async () => {
    const patch = '*** Begin Patch\n*** Delete File: d/f\n*** Add File: d/new\n+one\n*** Update File: other/m\n*** Move to: d/m\n@@\n-a\n+b\n*** End Patch'
    const asked = ['apply_patch', { patchText: patch }, ['/workspace/d/f', '/workspace/d/new', '/workspace/other/m', '/workspace/d/m']] as const
    const made = (): void => { unlinkSync(join(workspace, 'd/f')); write('d/new', 'one\n'); unlinkSync(join(workspace, 'other/m')); write('d/m', 'b\n') }
    const lay = (): void => { write('d/f', 'old\n'); write('other/m', 'a\n'); for (const path of ['d/new', 'd/m']) rmSync(join(workspace, path), { force: true }) }
    const outcomes: unknown[] = []
    for (const spoil of [() => undefined, () => { write('d/f', 'old\n') }, () => { write('other/m', 'a\n') }, () => { unlinkSync(join(workspace, 'd/new')) }, () => { write('d/m', 'a\n') }]) {
      lay()
      outcomes.push(await strayed(() => { made(); spoil() }, ...asked))
    }
    expect(outcomes).toEqual([undefined, '/workspace/d/f is still there', '/workspace/other/m is still there', '/workspace/d/new does not hold what was approved', '/workspace/d/m does not hold what was approved'])
  })

  test('of a link that a patch takes away is nothing amiss', async () => {
    symlinkSync('../other', join(workspace, 'd/link'))
    symlinkSync('f', join(workspace, 'd/g'))
    expect(await strayed(() => { unlinkSync(join(workspace, 'd/g')) }, 'apply_patch', { patchText: '*** Begin Patch\n*** Delete File: d/g\n*** End Patch' }, ['/workspace/d/g'])).toBeUndefined()
  })

  test('of a change that could not be worked out must not be as it was', async () => {
    const input = { filePath: '/workspace/d/f', oldString: 'nowhere', newString: 'x' }
    expect(await strayed(() => undefined, 'edit', input)).toBe('/workspace/d/f is as it was')
    expect(await strayed(() => { write('d/f', 'something\n') }, 'edit', input)).toBeUndefined()
  })
})
