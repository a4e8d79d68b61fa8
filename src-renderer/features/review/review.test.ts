import { describe, expect, it } from 'vitest'
import type { Digest } from '../../../src-preload/contract/ids.ts'
import type { Review } from '../../../src-preload/contract/methods.ts'
import { t } from '../../i18n/text.ts'
import { acceptBlockedBy } from './accept-blocked.ts'
import { misleadingFiles } from './misleading.ts'

const tree = `sha256:${'a'.repeat(64)}` as Digest
const other = `sha256:${'b'.repeat(64)}` as Digest
const task = { status: 'result-ready' as const, recovery: null, result: { treeDigest: tree, verified: true, acceptanceId: null } }
const shown = { evidence: { treeDigest: tree }, verification: { passed: true } }
const waiting = { outcome: 'waiting' as const }

describe('accepting a result', () => {
  it('is open when what is shown is verified and waits', () => {
    expect(acceptBlockedBy(task, shown, waiting)).toBeNull()
  })

  it.each([
    ['the tree is not the one that is shown', acceptBlockedBy(task, { ...shown, evidence: { treeDigest: other } }, waiting), t.review.changed],
    ['there is no verification', acceptBlockedBy(task, { ...shown, verification: null }, waiting), t.review.notVerified],
    ['the verification failed', acceptBlockedBy(task, { ...shown, verification: { passed: false } }, waiting), t.review.notVerified],
    ['the host does not call it verified', acceptBlockedBy({ ...task, result: { ...task.result, verified: false } }, shown, waiting), t.review.notVerified],
    ['the task is uncertain', acceptBlockedBy({ ...task, recovery: { state: 'uncertain', since: 0, what: 'x' } }, shown, waiting), t.review.uncertain],
    ['nothing waits', acceptBlockedBy(task, shown, undefined), t.review.noHold],
    ['the hold has been withdrawn', acceptBlockedBy(task, shown, { outcome: 'withdrawn' }), t.review.noHold],
    ['it has been accepted', acceptBlockedBy({ ...task, status: 'accepted' }, shown, waiting), t.review.alreadyAccepted],
    ['the task works on', acceptBlockedBy({ ...task, status: 'working' }, shown, waiting), t.review.notReady],
  ])('is closed when %s', (_why, blocked, words) => {
    expect(blocked).toBe(words)
  })
})

describe('misleadingFiles', () => {
  const file = (path: string, patch: string | null): Review['files'][number] => ({ change: { path, status: 'modified', additions: 1, deletions: 0, binary: false }, patch })

  it('names files with hidden or reordering characters, and no others', () => {
    expect(misleadingFiles([file('plain.ts', '+const a = 1'), file('accents.ts', '+// größer — naïve'), file('trojan.ts', '+// \u202E x'), file('zero.ts', '+a\u200Bb'), file('binary.png', null)])).toEqual(['trojan.ts', 'zero.ts'])
  })
})
