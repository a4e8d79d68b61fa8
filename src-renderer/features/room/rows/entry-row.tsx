import { memo, type ReactNode } from 'react'
import type { EntryBody, EntryRow } from '../../../../src-preload/contract/rows.ts'
import { useSpoken } from '../../../i18n/language.ts'
import { t } from '../../../i18n/text.ts'
import { useEntry, useRoom } from '../../../store/hooks.ts'
import { AuthorMark, AuthorName } from '../../../ui/badge.tsx'
import { moment, timeOfDay } from '../../../ui/format.ts'
import { BriefRow } from './brief-row.tsx'
import { AnswerRow, MessageRow } from './message-row.tsx'
import { QuestionRow } from './question-row.tsx'
import { ToolRow } from './tool-row.tsx'
import { EvidenceRow, ReviewRow, VerificationRow } from './evidence-row.tsx'
import { AppliedRow, CallRow, DecisionRow, HoldEntryRow, NoticeRow, StatusRow } from './small-rows.tsx'

/** Rows that are one quiet line; they carry no speaker's mark. */
const quietKinds: ReadonlySet<EntryBody['is']> = new Set(['call', 'status', 'hold'])

function isQuiet(body: EntryBody): boolean {
  return quietKinds.has(body.is) || (body.is === 'message' && body.reasoning)
}

/** One line of the transcript. Redraws only when its own row changes. */
export const EntryRowView = memo(function EntryRowView({ rowKey, previousKey }: { readonly rowKey: string; readonly previousKey: string | null }): ReactNode {
  useSpoken()
  const row = useEntry(rowKey)
  const room = useRoom()
  if (row === undefined) return null
  if (isQuiet(row.body)) {
    return (
      <article className={`entry entry-quiet entry-${row.body.is}`} aria-label={labelOf(row)} data-key={row.key}>
        <Body row={row} />
        <Time at={row.at} />
      </article>
    )
  }
  const previous = previousKey === null ? undefined : room.rows.entry(previousKey)
  const kind = kindWord(row.body)
  const goesOn = previous?.author === row.author && row.body.is === 'tool' && previous.body.is === 'tool'
  return (
    <article className={`entry entry-${row.body.is}${goesOn ? ' entry-goes-on' : ''}`} aria-label={labelOf(row)} data-key={row.key} data-author={row.author}>
      {goesOn ? <span /> : <AuthorMark author={row.author} />}
      <div className="entry-main">
        {goesOn || row.body.is === 'tool' ? null : (
          <div className="entry-head">
            <AuthorName author={row.author} />
            {kind === '' ? null : <span className="quiet small">{kind}</span>}
          </div>
        )}
        <Body row={row} />
      </div>
      <Time at={row.at} />
    </article>
  )
})

function Time({ at }: { readonly at: number }): ReactNode {
  return (
    <time className="entry-time" dateTime={new Date(at).toISOString()} title={moment(at)}>
      {timeOfDay(at)}
    </time>
  )
}

function kindWord(body: EntryBody): string {
  switch (body.is) {
    case 'question':
      return t.row.question
    case 'answer':
      return t.row.answeredBy
    case 'review':
      return t.row.review
    case 'message':
      return body.streaming ? t.row.streaming : ''
    default:
      return ''
  }
}

function labelOf(row: EntryRow): string {
  const named: Partial<Record<EntryBody['is'], string>> = { call: t.row.call, brief: t.row.brief, evidence: t.row.evidence, verification: t.row.verification }
  const word = row.body.is === 'tool' ? `${t.row.tool} ${row.body.tool}` : (named[row.body.is] ?? kindWord(row.body))
  return `${t.word[row.author]}${word === '' ? '' : `, ${word}`}, ${timeOfDay(row.at)}`
}

function Body({ row }: { readonly row: EntryRow }): ReactNode {
  const { body } = row
  switch (body.is) {
    case 'message':
      return <MessageRow rowKey={row.key} author={row.author} body={body} />
    case 'brief':
      return <BriefRow rowKey={row.key} body={body} />
    case 'question':
      return <QuestionRow taskId={row.taskId} author={row.author} body={body} />
    case 'answer':
      return <AnswerRow body={body} />
    case 'tool':
      return <ToolRow rowKey={row.key} body={body} />
    case 'hold':
      return <HoldEntryRow body={body} />
    case 'evidence':
      return <EvidenceRow rowKey={row.key} body={body} />
    case 'verification':
      return <VerificationRow rowKey={row.key} body={body} />
    case 'review':
      return <ReviewRow body={body} />
    case 'decision':
      return <DecisionRow body={body} at={row.at} />
    case 'applied':
      return <AppliedRow body={body} />
    case 'call':
      return <CallRow body={body} />
    case 'status':
      return <StatusRow body={body} />
    case 'notice':
      return <NoticeRow body={body} />
  }
}
