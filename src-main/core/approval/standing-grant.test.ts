import { describe, expect, it } from 'vitest'
import type { GrantScope } from '../../../src-preload/contract/grants.ts'
import type { ApprovalId, Bot, Digest, GrantId, TaskId } from '../../../src-preload/contract/ids.ts'
import { makeHold, type Hold, type HoldSubject } from './hold.ts'
import type { EditedFile } from './path-pattern.ts'
import { coversAct, grantFor, grantView, standingOffer, stands, type GrantRecord } from './standing-grant.ts'

const task = 'tsk_1' as TaskId
const at = '/workspace/src/a.ts'
const cardOf = (subject: HoldSubject, change: Partial<Hold> = {}): Hold => makeHold(task, (change.approvalId ?? 'apr_1') as ApprovalId, {
  kind: 'command', bot: 'coder', generation: 1, turnId: null, callId: null, subject, title: '', exact: { label: '', text: '', authoredBy: 'coder' }, facts: [], isolation: '', reaskReason: null, ...change,
})
const commandCard = (text: string, change: Partial<Hold> = {}): Hold => cardOf({ for: 'permission', permissionId: 'per_1', command: { text, cwd: '/workspace' } }, change)
const editCard = (...edited: readonly EditedFile[]): Hold => cardOf({ for: 'permission', permissionId: 'per_1', command: null }, { kind: 'edit', edited })
const plain = (path: string): EditedFile => ({ path, real: path })
const minute = 60_000

describe('what a card offers to stand', () => {
  it('is the command itself, for ten minutes, an hour or until the deadline, in that order', () => {
    const offer = standingOffer(task, commandCard('make all'))
    expect(offer?.explained).toBe('1 command (make), 2 literal words: no variables, patterns, substitutions or redirections to files')
    expect(offer?.choices.map(({ scope, forMs }) => [scope, forMs])).toEqual([10 * minute, 60 * minute, null].map((forMs) => [{ tool: 'bash', text: 'make all', cwd: '/workspace' }, forMs]))
  })

  it('is the same at the broker as where the runtime asks', () => {
    expect(standingOffer(task, cardOf({ for: 'command', askId: 'ask_1', command: { text: 'make all', cwd: '/workspace/src' } }))?.choices[0]?.scope).toEqual({ tool: 'bash', text: 'make all', cwd: '/workspace/src' })
  })

  it('is nothing for a command that cannot be read, with the reason', () => {
    expect(standingOffer(task, commandCard('rm $X'))).toEqual({ explained: 'Only one run at a time: "$" has a meaning of its own to a shell.', choices: [] })
  })

  it('is one file, or all below its folder, of an edit of one plain file', () => {
    const offer = standingOffer(task, editCard(plain(at)))
    expect(offer?.explained).toBe('Edits by Bot B of files in its copy of your folder. Links that lead elsewhere and names that begin with a dot are not covered.')
    expect(offer?.choices.map(({ scope, forMs }) => [scope, forMs])).toEqual(['/workspace/src/a.ts', '/workspace/src/**'].flatMap((pattern) => [10 * minute, 60 * minute, null].map((forMs) => [{ tool: 'edit', pattern }, forMs])))
  })

  it.each<[string, readonly EditedFile[]]>([
    ['of several files', [plain(at), plain('/workspace/b.ts')]], ['of no file', []], ['through a link', [{ path: at, real: '/workspace/b.ts' }]], ['whose file could not be followed', [{ path: at, real: null }]],
    ['of a file outside', [plain('/etc/passwd')]], ['of a file that is named like a pattern', [plain('/workspace/*')]], ['of one with a star in its name', [plain('/workspace/a*b')]],
  ])('is nothing for an edit %s, with the reason', (_what, files) => {
    expect(standingOffer(task, editCard(...files))).toEqual({ explained: 'Only one edit at a time: its files are not each one plain path in the workspace.', choices: [] })
  })

  it('leaves out of an edit\'s choices what would not cover it', () => {
    expect(standingOffer(task, editCard(plain('/workspace/.env')))?.choices.map(({ scope }) => scope)).toEqual(Array.from({ length: 3 }, () => ({ tool: 'edit', pattern: '/workspace/.env' })))
  })

  it.each<HoldSubject>([{ for: 'brief', inputVersion: 1 }, { for: 'provider', bot: 'coder' }, { for: 'acceptance', treeDigest: 'sha256:x' as Digest }, { for: 'permission', permissionId: 'per_1', command: null }])('is nothing at all on a card for $for', (subject) => {
    expect(standingOffer(task, cardOf(subject))).toBe(null)
  })

  it.each<HoldSubject>([{ for: 'brief', inputVersion: 1 }, { for: 'provider', bot: 'coder' }, { for: 'acceptance', treeDigest: 'sha256:x' as Digest }])('is nothing at all on a card for $for, whatever files it names', (subject) => {
    expect(standingOffer(task, cardOf(subject, { edited: [plain(at)] }))).toBe(null)
  })

  it('has a digest that is of this task, bot, generation, card, scope and time, and of nothing else', () => {
    const digestsOf = (taskId: TaskId, hold: Hold): readonly (Digest | undefined)[] => (standingOffer(taskId, hold)?.choices ?? []).map(({ digest }) => digest)
    const card = commandCard('make')
    const all = [
      digestsOf(task, card), digestsOf('tsk_2' as TaskId, card), digestsOf(task, { ...card, bot: 'lead' }), digestsOf(task, { ...card, generation: 2 }), digestsOf(task, { ...card, approvalId: 'apr_2' as ApprovalId }),
      digestsOf(task, { ...card, digest: `sha256:${'0'.repeat(64)}` as Digest }), digestsOf(task, { ...card, subject: { for: 'permission', permissionId: 'per_1', command: { text: 'make', cwd: '/workspace/src' } } }),
    ]
    expect(new Set(all.flat()).size).toBe(all.length * 3)
    expect(digestsOf(task, commandCard('make'))).toEqual(all[0])
  })
})

const bash: GrantScope = { tool: 'bash', text: 'make all', cwd: '/workspace' }
const record = (change: Partial<GrantRecord> & { readonly scope?: GrantScope; readonly bot?: Bot; readonly id?: string } = {}): GrantRecord => ({
  grant: { grantId: (change.id ?? 'grt_1') as GrantId, bot: change.bot ?? 'coder', generation: 1, scope: change.scope ?? bash, approvalId: 'apr_1' as ApprovalId, digest: 'sha256:x' as Digest, expiresAt: 200 },
  givenAt: 100, revokedAt: null, uses: 3, lastUsedAt: 150, ...('givenAt' in change ? { givenAt: change.givenAt ?? 0 } : {}), ...('revokedAt' in change ? { revokedAt: change.revokedAt ?? null } : {}),
})

describe('a standing grant', () => {
  it.each<[string, GrantRecord, number, number, boolean]>([
    ['from when it was given', record(), 1, 100, true], ['to just before it expires', record(), 1, 199, true], ['not when it expires', record(), 1, 200, false], ['not before it was given, by a clock that was set back', record(), 1, 99, false],
    ['not once it is revoked', record({ revokedAt: 120 }), 1, 130, false], ['not in another generation', record(), 2, 150, false],
  ])('stands %s', (_when, one, generation, now, expected) => { expect(stands(one, generation, now)).toBe(expected) })

  it.each<[string, Partial<{ text: string; cwd: string }>, boolean]>([
    ['the command in its directory', {}, true], ['not with another byte', { text: 'make all ' }, false], ['not in another directory', { cwd: '/workspace/src' }, false],
  ])('covers %s', (_what, change, expected) => { expect(coversAct(bash, { tool: 'bash', text: 'make all', cwd: '/workspace', ...change })).toBe(expected) })

  it('covers no command outside the workspace and none that the parser refuses, whatever was granted', () => {
    expect(coversAct({ tool: 'bash', text: 'ls', cwd: '/etc' }, { tool: 'bash', text: 'ls', cwd: '/etc' })).toBe(false)
    expect(coversAct({ tool: 'bash', text: 'ls', cwd: '/workspace/src' }, { tool: 'bash', text: 'ls', cwd: '/workspace/src' })).toBe(true)
    expect(coversAct({ tool: 'bash', text: 'rm $X', cwd: '/workspace' }, { tool: 'bash', text: 'rm $X', cwd: '/workspace' })).toBe(false)
  })

  it.each<[string, readonly EditedFile[], boolean]>([
    ['a file by both of its paths', [plain(at)], true], ['several, each by both', [plain(at), plain('/workspace/src/b/c.ts')], true], ['not one that leads elsewhere', [{ path: at, real: '/workspace/b.ts' }], false],
    ['not one that comes from elsewhere', [{ path: '/workspace/b.ts', real: at }], false], ['not one that could not be followed', [{ path: at, real: null }], false], ['not when one of several is not covered', [plain(at), plain('/workspace/b.ts')], false], ['not an edit of nothing', [], false],
  ])('of edits covers %s', (_what, files, expected) => { expect(coversAct({ tool: 'edit', pattern: '/workspace/src/**' }, { tool: 'edit', files })).toBe(expected) })

  it('covers no act of the other kind', () => {
    expect([coversAct(bash, { tool: 'edit', files: [plain(at)] }), coversAct({ tool: 'edit', pattern: '/workspace/**' }, { tool: 'bash', text: 'make all', cwd: '/workspace' })]).toEqual([false, false])
  })

  it('is the oldest of those that stand for this bot and cover the act', () => {
    const act = { tool: 'bash', text: 'make all', cwd: '/workspace' } as const
    const others = [record({ id: 'grt_lead', bot: 'lead' }), record({ id: 'grt_revoked', revokedAt: 110 }), record({ id: 'grt_other', scope: { ...bash, text: 'make' } })]
    const grants = [...others, record({ id: 'grt_first' }), record({ id: 'grt_second' })]
    expect(grantFor(grants, 'coder', 1, act, 150)?.grantId).toBe('grt_first')
    expect([grantFor(others, 'coder', 1, act, 150), grantFor(grants, 'coder', 2, act, 150), grantFor(grants, 'coder', 1, act, 200), grantFor([], 'coder', 1, act, 150)]).toEqual([null, null, null, null])
  })
})

describe('a standing grant as it is listed', () => {
  it('says what it covers and what has become of it', () => {
    expect(grantView(record(), 1, false)).toEqual({
      grantId: 'grt_1', bot: 'coder', scope: bash, explained: '1 command (make), 2 literal words: no variables, patterns, substitutions or redirections to files', digest: 'sha256:x', approvalId: 'apr_1',
      givenAt: 100, expiresAt: 200, uses: 3, lastUsedAt: 150, revokedAt: null, stands: true,
    })
    expect(grantView(record({ scope: { tool: 'edit', pattern: '/workspace/**' } }), 1, false).explained).toBe('Edits of these files in Bot B\'s copy of your folder, by their real paths.')
    expect(grantView(record({ scope: { ...bash, text: 'rm $X' } }), 1, false).explained).toBe('Covers nothing: "$" has a meaning of its own to a shell.')
  })

  it.each<[string, GrantRecord, number, boolean]>([['once it is revoked', record({ revokedAt: 5 }), 1, false], ['after a stop', record(), 2, false], ['after its task has ended', record(), 1, true]])('does not stand %s', (_when, one, generation, finished) => {
    expect(grantView(one, generation, finished).stands).toBe(false)
  })
})
