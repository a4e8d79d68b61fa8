import { BellRing, CircleAlert, RotateCcw, ScrollText } from 'lucide-react'
import { useMemo, useRef, useState, type ReactNode } from 'react'
import type { HoldRow } from '../../../src-preload/contract/rows.ts'
import type { Brief } from '../../../src-preload/contract/task.ts'
import { translated, translatedExactly } from '../../i18n/language.ts'
import { t } from '../../i18n/text.ts'
import { useNowMs } from '../../store/clock.ts'
import { useTaskById } from '../../store/hooks.ts'
import { showTask, useUi } from '../../store/ui-store.ts'
import { AuthorMark, AuthorName, Badge, WrittenBy } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Segments } from '../../ui/fields.tsx'
import { countdown, lineCount } from '../../ui/format.ts'
import { Digest, ExactText } from '../../ui/pieces.tsx'
import { markCount, visiblePieces } from '../../ui/visible-text.ts'
import { BriefDocument } from '../room/rows/brief-row.tsx'
import { briefIn } from './brief-in.ts'
import { Answer } from './answer.tsx'
import { useShownReceipt } from './shown.ts'

/** The hold in front: everything that it is about, whole, and the two buttons that answer it. */
export function ApprovalCard({ row, waiting }: { readonly row: HoldRow; readonly waiting: number }): ReactNode {
  const card = useRef<HTMLElement>(null)
  useShownReceipt(card, row)
  const shown = useUi((ui) => ui.taskId)
  const task = useTaskById(row.taskId)
  const now = useNowMs()
  const title = translated(row.title)
  return (
    <section ref={card} className={`approval${row.alarm ? ' approval-alarm' : ''}`} aria-label={title} data-approval-id={row.approvalId} data-digest={row.digest} data-hold-kind={row.holdKind} data-bot={row.bot}>
      <header className="approval-head">
        <AuthorMark author={row.bot} />
        <div className="grow">
          <div className="approval-who">
            <AuthorName author={row.bot} /> <span className="soft">· {t.approvals.kinds[row.holdKind]}</span>
          </div>
          <h2 className="approval-title clip" title={title}>
            <ExactText text={title} strictness="command" />
          </h2>
        </div>
        <span className="quiet small nowrap">{t.approvals.waitingSince({ time: countdown(now - row.openedAt) })}</span>
        {waiting > 1 ? <Badge tone="warn">{t.approvals.position({ n: waiting })}</Badge> : null}
      </header>
      <Strips row={row} />
      <ExactContent row={row} />
      <dl className="approval-facts">
        {task === undefined ? null : (
          <Fact label={t.approvals.forTask}>
            {row.taskId === shown ? (
              <div className="clip" title={task.title}>{task.title}</div>
            ) : (
              <Button size="small" variant="plain" className="button-inline" onPress={() => { showTask(row.taskId) }}>
                {task.title}
              </Button>
            )}
          </Fact>
        )}
        <FactsOfHold facts={row.facts} />
        {row.standing === null || row.standing.choices.length > 0 ? null : <Fact label={t.approvals.standing.fact}>{translated(row.standing.explained)}</Fact>}
        <Fact wide label={t.approvals.isolation}>{translated(row.isolation)}</Fact>
        <Fact wide label={t.approvals.digest}>
          <Digest value={row.digest} />
        </Fact>
      </dl>
      <Answer row={row} />
    </section>
  )
}

/** What the app says in them is translated; what a bot or the owner wrote stands as it is. The digest covers the original, which Audit shows. */
function FactsOfHold({ facts }: { readonly facts: HoldRow['facts'] }): ReactNode {
  return facts.map((fact, index) => {
    const value = fact.authoredBy !== 'host' ? fact.value : fact.exact ? translatedExactly(fact.value) : translated(fact.value)
    return (
      <Fact key={index} label={translated(fact.label)}>
        {fact.exact ? (
          <span className="mono">
            <ExactText text={value} strictness="command" />
          </span>
        ) : (
          value
        )}
        {fact.authoredBy === 'host' ? null : (
          <>
            {' '}
            <WrittenBy author={fact.authoredBy} />
          </>
        )}
      </Fact>
    )
  })
}

function Strips({ row }: { readonly row: HoldRow }): ReactNode {
  return (
    <>
      {row.alarm ? (
        <div className="approval-strip bad" role="alert">
          <BellRing className="icon icon-small" aria-hidden />
          {t.approvals.alarm}
        </div>
      ) : null}
      {row.reaskReason === null ? null : (
        <div className="approval-strip warn">
          <RotateCcw className="icon icon-small" aria-hidden />
          {t.approvals.reask}: {translated(row.reaskReason)}
        </div>
      )}
    </>
  )
}

/** `wide`: a row of its own, where two stand side by side. */
function Fact({ label, wide = false, children }: { readonly label: string; readonly wide?: boolean; readonly children: ReactNode }): ReactNode {
  return (
    <div className={`approval-fact${wide ? ' approval-fact-wide' : ''}`}>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** The bytes that the digest covers; a brief also as a document made from exactly these bytes. */
function ExactContent({ row }: { readonly row: HoldRow }): ReactNode {
  const brief = useMemo<Brief | null>(() => (row.holdKind === 'brief' ? briefIn(row.exact.text) : null), [row.holdKind, row.exact.text])
  const [as, setAs] = useState<'document' | 'bytes'>('document')
  const strictness = row.holdKind === 'brief' ? 'prose' : 'command'
  const hidden = useMemo(() => markCount(visiblePieces(row.exact.text, strictness)), [row.exact.text, strictness])
  const lines = lineCount(row.exact.text)
  return (
    <div className="approval-exact">
      <div className="line approval-exact-head">
        <span className="section-title">{translated(row.exact.label)}</span>
        <WrittenBy author={row.exact.authoredBy} />
        <span className="grow" />
        <span className="quiet small nowrap">
          {t.word.bytes({ n: new TextEncoder().encode(row.exact.text).length })}
          {lines > 1 ? ` · ${t.word.lines({ n: lines })}` : ''}
        </span>
        {brief === null ? null : (
          <Segments
            label={t.approvals.exactBytes}
            value={as}
            onChange={setAs}
            options={[
              { id: 'document', label: t.approvals.asDocument },
              { id: 'bytes', label: t.approvals.exactBytes },
            ]}
          />
        )}
      </div>
      {hidden === 0 ? null : (
        <div className="approval-strip warn">
          <CircleAlert className="icon icon-small" aria-hidden />
          {t.approvals.hidden({ n: hidden })}
        </div>
      )}
      {brief !== null && as === 'document' ? (
        <div className="approval-text approval-document" tabIndex={0} role="region" aria-label={t.approvals.scrollable}>
          <BriefDocument brief={brief} foldKey={`hold ${row.approvalId}`} exact />
        </div>
      ) : (
        <pre className="approval-text code" tabIndex={0} role="region" aria-label={t.approvals.scrollable} data-exact>
          <ExactText text={row.exact.text} strictness={strictness} />
        </pre>
      )}
    </div>
  )
}

/** A result that waits: it is answered in Review, never here. */
export function ResultCard({ row, onReview }: { readonly row: HoldRow; readonly onReview: () => void }): ReactNode {
  const card = useRef<HTMLElement>(null)
  useShownReceipt(card, row)
  const task = useTaskById(row.taskId)
  return (
    <section ref={card} className={`result-card${row.alarm ? ' approval-alarm' : ''}`} aria-label={t.approvals.resultReady} data-approval-id={row.approvalId} data-digest={row.digest} data-hold-kind={row.holdKind} data-bot={row.bot}>
      <ScrollText className="icon" aria-hidden />
      <div className="grow">
        <div className="result-title clip" title={task?.title}>
          {t.approvals.resultReady}
          {task === undefined ? null : <span className="soft"> · {task.title}</span>}
        </div>
        <div className="quiet small clip" title={t.approvals.resultReadyHint}>{t.approvals.resultReadyHint}</div>
      </div>
      <Digest value={row.digest} />
      <Button variant="primary" size="small" onPress={onReview}>
        {t.approvals.review}
      </Button>
    </section>
  )
}
