import { LoaderCircle } from 'lucide-react'
import { useRef, useState, type ReactNode } from 'react'
import type { StandingChoice } from '../../../src-preload/contract/grants.ts'
import type { HoldRow } from '../../../src-preload/contract/rows.ts'
import { t } from '../../i18n/text.ts'
import { Button, Keys } from '../../ui/button.tsx'
import { FailureNotice } from '../../ui/notice.tsx'
import { useDesk, useDeskState } from './desk.ts'
import type { PressBy, Verdict } from './input-grace.ts'
import { approveLabel, RaiseField } from './raise-field.tsx'
import { StandingChoices } from './standing-choices.tsx'

export const approveChord = 'mod+enter'
export const denyChord = 'mod+shift+enter'

/** The buttons that answer the front card, or, once asked for, the standing grant that can be given with the approval. */
export function Answer({ row }: { readonly row: HoldRow }): ReactNode {
  const [again, setAgain] = useState(false)
  const desk = useDesk()
  const state = useDeskState()
  const answer = state.answers.get(row.approvalId)
  const busy = answer?.at === 'sending' || answer?.at === 'recorded'
  const closed = !state.open || busy
  const press = (verdict: Verdict, standing: StandingChoice | null = null) => (by: PressBy) => {
    desk.press({ approvalId: row.approvalId, digest: row.digest }, verdict, by, standing?.digest ?? null)
  }
  const show = (open: boolean): void => {
    setAgain(open)
    desk.offered()
  }
  const amount = desk.amountOf(row)
  const offer = row.standing !== null && row.standing.choices.length > 0 ? row.standing : null
  return (
    <div className="approval-answer">
      {row.denyOnly === undefined ? null : <FailureNotice failure={row.denyOnly} />}
      {answer?.at === 'failed' ? <FailureNotice failure={answer.failure} /> : null}
      {again && offer !== null ? (
        <StandingChoices row={row} offer={offer} button={(choice, label) => (
          <div className="line approval-buttons">
            <AnswerButton verdict="approved" label={label} closed={closed} waiting={!state.open} busy={busy && answer.verdict === 'approved'} onAnswer={press('approved', choice)} />
            <Button size="small" variant="plain" isDisabled={busy} onPress={() => { show(false) }}>{t.word.back}</Button>
            <AnswerHint busy={busy ? answer.verdict : null} denyOnly={row.denyOnly !== undefined} />
          </div>
        )} />
      ) : (
      <>
      {row.raise === undefined ? null : <RaiseField row={row} offer={row.raise} isDisabled={busy} />}
      <div className="line approval-buttons">
        <AnswerButton verdict="approved" {...(row.raise === undefined ? {} : { label: approveLabel(row.raise, amount) })} closed={closed || row.denyOnly !== undefined || typeof amount === 'string'} waiting={!state.open} busy={busy && answer.verdict === 'approved'} onAnswer={press('approved')} />
        <AnswerButton verdict="denied" closed={closed} waiting={!state.open} busy={busy && answer.verdict === 'denied'} onAnswer={press('denied')} />
        {offer === null ? null : <Button variant="plain" isDisabled={busy} onPress={() => { show(true) }}>{t.approvals.standing.open}</Button>}
        <AnswerHint busy={busy ? answer.verdict : null} denyOnly={row.denyOnly !== undefined} />
      </div>
      </>
      )}
    </div>
  )
}

/**
 * A plain button, because its every event matters here: a click counts only if it also began on this button while it was
 * open, and one without a pointer is the keyboard's.
 */
function AnswerButton({ verdict, label, closed, waiting, busy, onAnswer }: { readonly verdict: Verdict; readonly label?: string; readonly closed: boolean; readonly waiting: boolean; readonly busy: boolean; readonly onAnswer: (by: PressBy) => void }): ReactNode {
  const began = useRef(false)
  return (
    <button
      type="button"
      className={`button approval-button approval-button-${verdict}${waiting ? ' approval-button-grace' : ''}`}
      disabled={closed}
      onPointerDown={() => {
        began.current = true
      }}
      onPointerLeave={() => {
        began.current = false
      }}
      onClick={(event) => {
        const byPointer = event.nativeEvent instanceof PointerEvent && event.nativeEvent.pointerType !== ''
        if (!byPointer) onAnswer('keyboard')
        else if (began.current) onAnswer('pointer')
        began.current = false
      }}
    >
      {busy ? <LoaderCircle className="icon icon-small spin" aria-hidden /> : null}
      {label ?? (verdict === 'approved' ? t.approvals.approve : t.approvals.deny)}
    </button>
  )
}

function AnswerHint({ busy, denyOnly }: { readonly busy: Verdict | null; readonly denyOnly: boolean }): ReactNode {
  const { grace, ignored, open } = useDeskState()
  if (busy !== null) return <span className="soft small">{t.approvals.sending}</span>
  if (grace.armed !== null) {
    return (
      <span className="approval-armed small" role="status">
        {grace.armed.standing !== null ? t.approvals.standing.armed : grace.armed.verdict === 'approved' ? t.approvals.armedApprove : t.approvals.armedDeny} <Keys chord={grace.armed.verdict === 'approved' ? approveChord : denyChord} />
      </span>
    )
  }
  if (ignored === 'window-was-inactive') return <span className="warn small" role="status">{t.approvals.activated}</span>
  if (!open) return <span className="quiet small">{t.approvals.inGrace}</span>
  return (
    <span className="quiet small line approval-hint">
      <Keys chord={denyOnly ? denyChord : approveChord} /> {denyOnly ? t.approvals.armDenyHint : t.approvals.armHint}
    </span>
  )
}
