import { expect, test } from 'vitest'
import type { Recovery } from '../../../src-preload/contract/task.ts'
import { t } from '../../i18n/text.ts'
import { exitWords } from './exit-words.ts'

const recovery: Recovery = { state: 'uncertain', since: 0, what: 'x' }

test('"Mark not done" of a turn says that it ends the task, as it does', () => {
  expect(exitWords({ status: 'working' }, recovery, 'mark-not-done')).toEqual({ label: t.room.exits['mark-not-done'], tip: 'It did not happen: the task ends, and a snapshot of its files is kept' })
})

test('of an applying that is uncertain, each exit says what becomes of the result', () => {
  expect((['re-check', 'mark-done', 'mark-not-done', 'resend'] as const).map((exit) => exitWords({ status: 'result-ready' }, recovery, exit).tip)).toEqual([
    'Look at the folder again and compare', 'It was applied: the result counts as accepted', 'It was not applied: the result waits for you again', 'Apply it again; refused where your folder has changed',
  ])
})

test('a result whose files are others is compared again or rejected', () => {
  const compared: Recovery = { ...recovery, exits: ['re-check', 'mark-not-done'] }
  expect(exitWords({ status: 'result-ready' }, compared, 're-check').tip).toBe(t.room.recheckResult)
  expect(exitWords({ status: 'result-ready' }, compared, 'mark-not-done')).toEqual({ label: t.review.reject, tip: t.review.rejectHint })
})
