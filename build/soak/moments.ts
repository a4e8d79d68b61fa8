import { isFinished, openQuestions, waitingHolds, type TaskState } from '../../src-main/core/task/model.ts'
import type { EntryBody, Row } from '../../src-preload/contract/rows.ts'

type TaskRow = Extract<Row, { kind: 'task' }>
type Of<K extends EntryBody['is']> = Extract<EntryBody, { is: K }>

const task = (fits: (row: TaskRow) => boolean) => (rows: readonly Row[]): boolean => rows.some((row) => row.kind === 'task' && fits(row))
const hold = (kind: string) => (rows: readonly Row[]): boolean => rows.some((row) => row.kind === 'hold' && row.outcome === 'waiting' && row.holdKind === kind)
const entry = <K extends EntryBody['is']>(is: K, fits: (body: Of<K>) => boolean) => (rows: readonly Row[]): boolean => rows.some((row) => row.kind === 'entry' && row.body.is === is && fits(row.body as Of<K>))

/** What the window shows at the moments worth dying at. Rows of tasks that are over are left out before they are looked at. */
const inRows = {
  'brief waits': hold('brief'),
  'Bot B starts': task(({ activity }) => activity?.label === 'Starting Bot B'),
  'call being written': entry('tool', ({ state }) => state === 'preview'),
  'command runs': entry('tool', ({ tool, state }) => tool === 'bash' && state === 'running'),
  'command waits': hold('command'),
  'question waits': entry('question', ({ state }) => state === 'open' || state === 'asked-owner'),
  'verification runs': entry('verification', ({ state }) => state === 'running'),
  'result waits': task(({ status }) => status === 'result-ready'),
  'stop requested': task(({ cancel }) => cancel?.state === 'requested'),
  'turn uncertain': task(({ recovery }) => recovery !== null),
} as const

/** What the owner has just sent: the app dies before, while or after it is recorded and done. */
export const ownersActs = ['result accepted', 'command approved', 'turn resent'] as const
export type OwnersAct = (typeof ownersActs)[number]

export type Moment = keyof typeof inRows | OwnersAct
export const moments = [...Object.keys(inRows) as (keyof typeof inRows)[], ...ownersActs] as readonly Moment[]

/** How often each comes into a deck: what lasts long in a real task more often than what passes. */
export const momentWeights: Readonly<Record<Moment, number>> = {
  'brief waits': 1, 'Bot B starts': 1, 'call being written': 3, 'command runs': 2, 'command waits': 1, 'question waits': 1, 'verification runs': 2, 'result waits': 1, 'stop requested': 1, 'turn uncertain': 1,
  'result accepted': 2, 'command approved': 1, 'turn resent': 1,
}

/** The moments that these rows are at. */
export function momentsIn(rows: readonly Row[]): readonly Moment[] {
  return (Object.keys(inRows) as (keyof typeof inRows)[]).filter((moment) => inRows[moment](rows))
}

/** Where the journal says that a task stood when the app died; finer than the phase while Bot B works. */
export const places = [
  'preparing', 'briefing', 'brief-waits', 'starting-coder', 'coding: reply under way', 'coding: call runs', 'coding: approval waits', 'coding: question waits', 'coding: between', 'collecting', 'verifying', 'reviewing',
  'acceptance-waits', 'applying', 'stopping', 'uncertain', 'over, not cleared away',
] as const
export type Place = (typeof places)[number]

/** Null for a task of which nothing was left to do. */
export function placeOf(state: TaskState): Place | null {
  if (isFinished(state.status)) return state.workspaceDisposed ? null : 'over, not cleared away'
  if (state.recovery !== null) return 'uncertain'
  if (state.phase !== 'coding') return state.phase === 'ended' ? null : state.phase
  if (waitingHolds(state).length > 0) return 'coding: approval waits'
  if (openQuestions(state).length > 0) return 'coding: question waits'
  if (state.openTools.size > 0) return 'coding: call runs'
  return state.calls.some(({ bot, settled }) => bot === 'coder' && !settled) ? 'coding: reply under way' : 'coding: between'
}
