import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CallId, Digest, GrantId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import type { EditedFile } from '../approval/path-pattern.ts'
import { standingOffer } from '../approval/standing-grant.ts'
import { digestOfText } from '../digest.ts'
import type { TaskCommand } from './commands.ts'
import { brokenLaws } from './laws.ts'
import { waitingHolds } from './model.ts'
import { aTask, playToWork, say, type Played } from './played.suite.ts'
import { taskRow } from './rows/task-row.ts'

const minute = 60_000

/** What the front card offers. */
function offers(task: Played): NonNullable<ReturnType<typeof standingOffer>> {
  const hold = waitingHolds(task.state)[0]?.hold
  const offer = hold === undefined ? null : standingOffer(task.state.taskId, hold)
  if (offer === null) throw new Error('the card offers nothing')
  return offer
}

/** The owner confirms one of the front card's choices. */
function grant(task: Played, forMs: number | null, choose: (pattern: string) => boolean = () => true): GrantId {
  const hold = waitingHolds(task.state)[0]?.hold
  const choice = offers(task).choices.find((each) => each.forMs === forMs && (each.scope.tool === 'bash' || choose(each.scope.pattern)))
  if (hold === undefined || choice === undefined) throw new Error('no such choice')
  task.show(hold.approvalId)
  task.play({ is: 'decide-hold', approvalId: hold.approvalId, digest: hold.digest, verdict: 'approved', reason: null, standing: choice.digest })
  const given = task.events.findLast((event) => event.type === 'grant-given')
  if (given?.type !== 'grant-given') throw new Error('nothing was granted')
  return given.grant.grantId
}

const patchOf = (files: readonly EditedFile[]): string => ['*** Begin Patch', ...files.map(({ path }) => `*** Delete File: ${path}`), '*** End Patch'].join('\n')
const edits = (permissionId: string, ...files: EditedFile[]): TaskCommand => ({ is: 'permission-asked', permissionId, callId: `call_${permissionId}` as CallId, permission: 'edit', patterns: [], command: null, files, diff: '--- a', isolation: 'bubblewrap', edit: { tool: 'apply_patch', input: { patchText: patchOf(files) }, bases: [] } })
const plain = (path: string): EditedFile => ({ path, real: path })
const askingEdits = (): Played => playToWork(say.open({ task: { grant: { ...aTask.grant, edits: 'ask' } } }))
const ruledBy = (task: Played): unknown => { const last = task.events.at(-1); return last?.type === 'permission-ruled' ? (last.grantId ?? last.by) : last?.type }
const laws = (task: Played): string[] => brokenLaws(task.history)

describe('a standing grant', () => {
  it('lets the same command run again without a question, as a decision of its own', () => {
    const task = playToWork().play(say.bash('per_1', 'npm run lint'))
    const grantId = grant(task, null)
    task.play(say.bash('per_2', 'npm run lint'))
    expect(ruledBy(task)).toBe(grantId)
    expect(task.effects).toEqual([{ kind: 'coder.answerPermission', permissionId: 'per_2', allow: true, message: '', command: { text: 'npm run lint', cwd: '/workspace' }, grantId }])
    task.play({ is: 'command-asked', askId: 'ask_1', text: 'npm run lint', cwd: '/workspace', isolation: 'x' })
    expect(ruledBy(task)).toBe(grantId)
    expect(task.state.grants.get(grantId)).toMatchObject({ uses: 2, revokedAt: null })
    expect(waitingHolds(task.state)).toEqual([])
    expect(laws(task)).toEqual([])
  })

  it('covers every byte of the text and the directory, and nothing else', () => {
    const task = playToWork().play(say.bash('per_0', 'npm run lint'))
    grant(task, null)
    const others = ['npm run lint ', ' npm run lint', 'npm  run lint', 'npm run lint; true', 'npm run lint\n', 'npm run lint\u200b', 'npm run lint #', 'NPM run lint', 'npm run lin\u0074\u0301', 'npm run lint && npm publish']
    for (const [index, text] of others.entries()) task.play(say.bash(`per_${String(index + 1)}`, text))
    task.play(say.bash('per_cwd', 'npm run lint', '/workspace/src'))
    expect(waitingHolds(task.state)).toHaveLength(others.length + 1)
  })

  it('is offered for no command that the parser refuses, and the card says why', () => {
    for (const text of ['rm $FILES', 'ls > out', 'ls\nrm x', 'echo "$(id)"', 'rm а']) {
      const task = playToWork().play(say.bash('per_1', text))
      expect(offers(task).choices).toEqual([])
      expect(offers(task).explained).toMatch(/^Only one run at a time: /)
    }
  })

  it('is given only by the digest of a choice of the very card that is approved', () => {
    const task = playToWork().play(say.bash('per_1', 'ls'), say.bash('per_2', 'ls'))
    const [first, second] = waitingHolds(task.state).map(({ hold }) => hold)
    if (first === undefined || second === undefined) throw new Error('two cards wait')
    task.show(first.approvalId)
    const ofSecond = standingOffer(task.state.taskId, second)?.choices[0]?.digest ?? ('' as Digest)
    for (const standing of [ofSecond, first.digest, digestOfText('forged')]) {
      const refused = task.give({ is: 'decide-hold', approvalId: first.approvalId, digest: first.digest, verdict: 'approved', reason: null, standing })
      expect(refused).toMatchObject({ ok: false, error: { code: 'digest-mismatch' } })
    }
    expect(task.state.grants.size).toBe(0)
    expect(waitingHolds(task.state)).toHaveLength(2)
  })

  it('gives each choice of a card a digest of its own', () => {
    const task = askingEdits().play(edits('per_1', plain('/workspace/src/a.ts')))
    const digests = offers(task).choices.map((choice) => choice.digest)
    expect(new Set(digests).size).toBe(6)
  })

  it('is not given by a denial', () => {
    const task = playToWork().play(say.bash('per_1', 'ls'))
    const { hold } = waitingHolds(task.state)[0] ?? {}
    if (hold === undefined) throw new Error('no card waits')
    task.show(hold.approvalId)
    task.play({ is: 'decide-hold', approvalId: hold.approvalId, digest: hold.digest, verdict: 'denied', reason: null, standing: offers(task).choices[0]?.digest ?? null })
    expect(task.state.grants.size).toBe(0)
  })

  it('ends at its time, at the task\'s deadline at the latest, and the card then says so', () => {
    const task = playToWork(say.open({ task: { budget: { ...aTask.budget, deadlineMs: 20 * minute } } })).play(say.bash('per_1', 'ls'))
    const short = grant(task, 10 * minute)
    const given = task.now
    expect(task.state.grants.get(short)?.grant.expiresAt).toBe(given + 10 * minute)
    task.now = given + 10 * minute - 1
    task.play(say.bash('per_2', 'ls'))
    expect(ruledBy(task)).toBe(short)
    task.now = given + 10 * minute
    task.play(say.bash('per_3', 'ls'))
    expect(waitingHolds(task.state)[0]?.hold.reaskReason).toBe('The standing grant that covered this has ended.')
    const long = grant(task, 60 * minute)
    expect(task.state.grants.get(long)?.grant.expiresAt).toBe(task.state.deadlineAt)
  })

  it('covers nothing by a clock that was set back to before it was given', () => {
    const task = playToWork().play(say.bash('per_1', 'ls'))
    grant(task, 10 * minute)
    task.now -= 1
    task.play(say.bash('per_2', 'ls'))
    expect(waitingHolds(task.state)).toHaveLength(1)
    expect(laws(task)).toEqual([])
  })

  it('covers nothing once it is revoked; a second click changes nothing', () => {
    const task = playToWork().play(say.bash('per_1', 'ls'))
    const grantId = grant(task, null)
    task.play({ is: 'revoke-grant', grantId }, { is: 'revoke-grant', grantId })
    expect(task.events.filter((event) => event.type === 'grant-revoked')).toHaveLength(1)
    task.play(say.bash('per_2', 'ls'))
    expect(waitingHolds(task.state)[0]?.hold.reaskReason).toBe('You revoked the standing grant that covered this.')
    expect(taskRow(task.state, { isolation: null, waiting: null }).standingGrants).toMatchObject([{ grantId, stands: false, uses: 0, explained: '1 command (ls), 1 literal word: no variables, patterns, substitutions or redirections to files' }])
    expect(task.give({ is: 'revoke-grant', grantId: 'grt_none' as GrantId })).toMatchObject({ ok: false, error: { code: 'unknown-approval' } })
  })

  it('outlives no stop: its generation is over', () => {
    const task = playToWork().play(say.bash('per_1', 'ls'))
    grant(task, null)
    task.play({ is: 'stop-task' })
    expect(taskRow(task.state, { isolation: null, waiting: null }).standingGrants).toMatchObject([{ stands: false }])
  })

  it('never overrules a hard denial or the task\'s own grant', () => {
    const task = playToWork().play(say.bash('per_1', 'ls'))
    grant(task, null)
    task.play(say.bash('per_2', 'ls', '/etc'), say.bash('per_3', 'ls', '/workspace/../etc'))
    expect(task.events.filter((event) => event.type === 'permission-ruled').map((event) => [event.ruling, event.by])).toEqual([['granted', 'the owner'], ['denied', 'policy'], ['denied', 'policy']])
  })

  it('lets the owner allow edits of one file, or of all below its folder', () => {
    const one = askingEdits().play(edits('per_1', plain('/workspace/src/a.ts')))
    grant(one, null, (pattern) => !pattern.includes('*'))
    one.play(edits('per_2', plain('/workspace/src/a.ts')), edits('per_3', plain('/workspace/src/b.ts')))
    expect(waitingHolds(one.state).map(({ hold }) => hold.facts[0]?.value)).toEqual(['/workspace/src/b.ts'])
    const folder = askingEdits().play(edits('per_1', plain('/workspace/src/a.ts')))
    grant(folder, null, (pattern) => pattern === '/workspace/src/**')
    folder.play(edits('per_2', plain('/workspace/src/deep/b.ts'), plain('/workspace/src/c.ts')))
    expect(waitingHolds(folder.state)).toEqual([])
    folder.play(edits('per_3', plain('/workspace/src/c.ts'), plain('/workspace/test/c.ts')), edits('per_4', plain('/workspace/src/.env')), edits('per_5', { path: '/workspace/src/link', real: '/workspace/test/a' }), edits('per_6', { path: '/workspace/src/link', real: '/etc/passwd' }), edits('per_7', { path: '/workspace/src/x', real: null }))
    expect(waitingHolds(folder.state).map(({ hold }) => hold.subject.for === 'permission' && hold.subject.permissionId)).toEqual(['per_3', 'per_4', 'per_5'])
  })

  it('is offered for no edit through a link, of several files, or of a file whose name a pattern could mean', () => {
    for (const files of [[{ path: '/workspace/a', real: '/workspace/b' }], [plain('/workspace/a'), plain('/workspace/b')], [plain('/workspace/*')], [{ path: 'a', real: null }]]) {
      expect(offers(askingEdits().play(edits('per_1', ...files))).choices).toEqual([])
    }
  })

  it('has a limit in number: the card then takes a single approval only', () => {
    const task = playToWork()
    for (let index = 0; index < limits.standingGrantsMax; index += 1) { task.play(say.bash(`per_${String(index)}`, `ls ${String(index)}`)); grant(task, null) }
    task.play(say.bash('per_more', 'ls more'))
    expect(() => grant(task, null)).toThrow('at most')
  })

  it('keeps the laws and covers nothing but its bytes, whatever is asked, granted and revoked, in whatever order', () => {
    const texts = ['ls', 'ls -la', 'npm test', 'rm $X'] as const
    const cwds = ['/workspace', '/workspace/src', '/etc'] as const
    const move = fc.record({ act: fc.constantFrom('ask', 'broker', 'grant', 'approve', 'deny', 'revoke', 'wait'), text: fc.constantFrom(...texts), cwd: fc.constantFrom(...cwds), pick: fc.nat(5) })
    fc.assert(fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
      const task = playToWork(say.open({ task: { budget: { ...aTask.budget, deadlineMs: 24 * 60 * minute } } }))
      for (const [index, { act, text, cwd, pick }] of moves.entries()) {
        const hold = waitingHolds(task.state)[0]?.hold
        const choice = hold === undefined ? undefined : standingOffer(task.state.taskId, hold)?.choices[pick % 3]
        const before = task.state
        if (act === 'ask') task.give(say.bash(`per_${String(index)}`, text, cwd))
        if (act === 'broker') task.give({ is: 'command-asked', askId: `ask_${String(index)}`, text, cwd, isolation: 'x' })
        if (hold !== undefined && (act === 'grant' || act === 'approve' || act === 'deny')) { task.show(hold.approvalId); task.give({ is: 'decide-hold', approvalId: hold.approvalId, digest: hold.digest, verdict: act === 'deny' ? 'denied' : 'approved', reason: null, standing: act === 'grant' ? choice?.digest ?? null : null }) }
        if (act === 'revoke') task.give({ is: 'revoke-grant', grantId: [...task.state.grants.keys()][pick] ?? ('none' as GrantId) })
        if (act === 'wait') task.now += 4 * minute
        if (act !== 'ask' && act !== 'broker') continue
        const ruled = task.events.at(-1)
        const covering = [...before.grants.values()].some((record) => record.revokedAt === null && task.now < record.grant.expiresAt && record.grant.scope.tool === 'bash' && record.grant.scope.text === text && record.grant.scope.cwd === cwd)
        expect(ruled?.type === 'permission-ruled' && ruled.grantId !== undefined).toBe(covering)
      }
      expect(laws(task)).toEqual([])
    }), { numRuns: 300 })
  })
})
