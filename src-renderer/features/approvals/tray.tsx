import { useEffect, useMemo, useRef, type ReactNode } from 'react'
import type { HoldRow } from '../../../src-preload/contract/rows.ts'
import { translated } from '../../i18n/language.ts'
import { t } from '../../i18n/text.ts'
import { useHold, useRoom, useWaitingHoldKeys } from '../../store/hooks.ts'
import { changeUi, show, useUi } from '../../store/ui-store.ts'
import { AuthorMark, AuthorName } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { isChord, onMac, isTyping } from '../../ui/keys.ts'
import { ExactText } from '../../ui/pieces.tsx'
import { approveChord, denyChord } from './answer.tsx'
import { ApprovalCard, ResultCard } from './approval-card.tsx'
import { useDesk, useDeskState } from './desk.ts'

/**
 * Everything that waits for the owner, over all tasks: one card in front that can be answered, those behind it by name, and
 * results that wait for a review. `compact`: one line, on screens other than the room.
 */
export function ApprovalTray({ compact }: { readonly compact: boolean }): ReactNode {
  const keys = useWaitingHoldKeys()
  const room = useRoom()
  const { frontKey } = useDeskState()
  // A result that is being reviewed is on screen already, with its own buttons.
  const reviewed = useUi((ui) => (ui.screen.at === 'review' ? ui.taskId : null))
  const region = useRef<HTMLElement>(null)
  useChords(region)
  useFocusCustody(region, frontKey)
  const { behind, results } = useMemo(() => {
    const rows = keys.map((key) => room.rows.hold(key)).filter((row): row is HoldRow => row !== undefined)
    return { behind: rows.filter((row) => row.holdKind !== 'acceptance' && row.key !== frontKey), results: rows.filter((row) => row.holdKind === 'acceptance' && row.taskId !== reviewed) }
  }, [keys, room, frontKey, reviewed])
  const empty = frontKey === null && results.length === 0
  return (
    <section ref={region} className={`tray${compact ? ' tray-compact' : ''}${empty ? ' tray-empty' : ''}`} aria-label={t.approvals.region} tabIndex={-1}>
      <Announcement frontKey={frontKey} />
      {empty ? null : compact ? <CompactTray waiting={behind.length + results.length + (frontKey === null ? 0 : 1)} frontKey={frontKey} results={results} /> : (
        <div className={`tray-inner${frontKey !== null && behind.length + results.length > 0 ? ' tray-with-side' : ''}`}>
          {frontKey === null ? null : <FrontCard key={frontKey} frontKey={frontKey} waiting={behind.length + 1} />}
          {behind.length + results.length === 0 ? null : (
            <div className="tray-side">
              {results.map((row) => (
                <ResultCard key={row.key} row={row} onReview={() => { changeUi({ taskId: row.taskId, screen: { at: 'review' } }) }} />
              ))}
              {behind.length === 0 ? null : (
                <>
                  <h2 className="section-title">{t.approvals.alsoWaiting}</h2>
                  <ol className="tray-queue">
                    {behind.map((row) => (
                      <QueueLine key={row.key} holdKey={row.key} />
                    ))}
                  </ol>
                </>
              )}
            </div>
          )}
        </div>
      )}
    </section>
  )
}

function FrontCard({ frontKey, waiting }: { readonly frontKey: string; readonly waiting: number }): ReactNode {
  const row = useHold(frontKey)
  return row === undefined ? null : <ApprovalCard row={row} waiting={waiting} />
}

/** A hold that is not its turn yet: known to the owner by name, not answerable, and not shown, since nobody has read what it asks for. */
function QueueLine({ holdKey }: { readonly holdKey: string }): ReactNode {
  const row = useHold(holdKey)
  if (row === undefined) return null
  return (
    <li className={`queue-line${row.alarm ? ' approval-alarm' : ''}`} data-approval-id={row.approvalId} data-digest={row.digest} data-hold-kind={row.holdKind} data-bot={row.bot}>
      <AuthorMark author={row.bot} />
      <span className="grow">
        <span className="small quiet">
          <AuthorName author={row.bot} /> · {t.approvals.kinds[row.holdKind]}
        </span>
        <span className="queue-title clip">
          <ExactText text={translated(row.title)} strictness="command" />
        </span>
      </span>
    </li>
  )
}

function CompactTray({ waiting, frontKey, results }: { readonly waiting: number; readonly frontKey: string | null; readonly results: readonly HoldRow[] }): ReactNode {
  const front = useHold(frontKey ?? '') ?? results[0]
  if (front === undefined) return null
  const review = frontKey === null
  return (
    <div className={`tray-line${front.alarm ? ' approval-alarm' : ''}`}>
      <AuthorMark author={front.bot} />
      <span className="clip grow">
        <strong>{t.nav.waits({ n: waiting })}</strong> <span className="soft">{review ? t.approvals.resultReady : translated(front.title)}</span>
      </span>
      <Button
        size="small"
        variant="primary"
        onPress={() => {
          if (review) changeUi({ taskId: front.taskId, screen: { at: 'review' } })
          else show({ at: 'room' })
        }}
      >
        {t.approvals.go}
      </Button>
    </div>
  )
}

/** Says to a screen reader that something asks, without moving its focus. */
function Announcement({ frontKey }: { readonly frontKey: string | null }): ReactNode {
  const row = useHold(frontKey ?? '')
  return (
    <div className="unseen" role="status">
      {row === undefined ? '' : `${t.word[row.bot]} ${t.approvals.asks[row.holdKind]}: ${translated(row.title)}`}
    </div>
  )
}

/** Keyboard approval: a chord, pressed twice. Typing is never disturbed by it, and nothing is approved that a dialog stands before. */
function useChords(region: React.RefObject<HTMLElement | null>): void {
  const desk = useDesk()
  const inRoom = useUi((ui) => ui.screen.at === 'room' && !ui.paletteOpen)
  useEffect(() => {
    if (!inRoom) return
    const onKey = (event: KeyboardEvent): void => {
      const verdict = isChord(event, approveChord, onMac()) ? 'approved' : isChord(event, denyChord, onMac()) ? 'denied' : null
      if (verdict === null) {
        if (event.key === 'Escape') desk.disarm()
        return
      }
      if (isTyping(event.target) || region.current === null || isBehindDialog(region.current)) return
      event.preventDefault()
      event.stopPropagation()
      desk.chord(verdict, event.repeat)
    }
    window.addEventListener('keydown', onKey, true)
    return () => {
      window.removeEventListener('keydown', onKey, true)
    }
  }, [desk, inRoom, region])
}

/** An open dialog makes everything outside of it inert, or hides it from assistive technology. */
function isBehindDialog(element: HTMLElement): boolean {
  return element.closest('[inert], [aria-hidden="true"]') !== null
}

/** When the card that had the focus goes, the focus stays in the tray, on no button. It is never brought there. */
function useFocusCustody(region: React.RefObject<HTMLElement | null>, frontKey: string | null): void {
  const hadFocus = useRef(false)
  useEffect(() => {
    const element = region.current
    if (element === null) return
    const remember = (): void => {
      hadFocus.current = true
    }
    const forget = (event: FocusEvent): void => {
      // A focused element that is removed leaves without a new target; one that is left for another has one.
      if (event.relatedTarget instanceof Node && !element.contains(event.relatedTarget)) hadFocus.current = false
    }
    element.addEventListener('focusin', remember)
    element.addEventListener('focusout', forget)
    return () => {
      element.removeEventListener('focusin', remember)
      element.removeEventListener('focusout', forget)
    }
  }, [region])
  useEffect(() => {
    if (hadFocus.current && (document.activeElement === document.body || document.activeElement === null)) region.current?.focus({ preventScroll: true })
  }, [region, frontKey])
}
