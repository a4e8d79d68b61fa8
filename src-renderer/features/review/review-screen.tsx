import { FileDiff } from 'lucide-react'
import { useRef, useState, type ReactNode } from 'react'
import type { Review } from '../../../src-preload/contract/methods.ts'
import type { TaskRow } from '../../../src-preload/contract/rows.ts'
import { failureOf } from '../../bridge.ts'
import { t } from '../../i18n/text.ts'
import { useTaskById } from '../../store/hooks.ts'
import { useMethod } from '../../store/queries.ts'
import { show, useUi } from '../../store/ui-store.ts'
import { Button } from '../../ui/button.tsx'
import { Segments } from '../../ui/fields.tsx'
import { count } from '../../ui/format.ts'
import { useMedia } from '../../ui/media.ts'
import { Empty, FailureNotice, Loading } from '../../ui/notice.tsx'
import { TaskHeader } from '../room/task-header.tsx'
import { ChangedFiles } from './changed-files.tsx'
import { DiffPane, type DiffPaneHandle } from './diff-pane.tsx'
import { EvidencePane } from './evidence-pane.tsx'
import { ReviewActions } from './review-actions.tsx'
import './review.css'

/** From this width on the evidence stands beside the diff; below it the two share a place. */
const bothPanes = '(min-width: 1320px)'

/** Where a result is looked at and decided. */
export function ReviewScreen(): ReactNode {
  const taskId = useUi((ui) => ui.taskId)
  const task = useTaskById(taskId)
  if (task === undefined) return <Empty icon={FileDiff} title={t.room.pick} />
  return (
    <div className="review">
      <TaskHeader task={task} />
      {/* Read anew once its files are told to be others, and once they are back. */}
      <ReviewContent key={`${task.taskId} ${task.result?.treeDigest ?? ''} ${task.recovery === null ? '' : 'uncertain'}`} task={task} />
    </div>
  )
}

function ReviewContent({ task }: { readonly task: TaskRow }): ReactNode {
  const review = useMethod('review.get', { taskId: task.taskId }, { enabled: task.result !== null, staleTimeMs: 0 })
  if (task.result === null) {
    return (
      <Empty icon={FileDiff} title={t.review.nothing}>
        <Button variant="plain" size="small" onPress={() => { show({ at: 'room' }) }}>
          {t.review.toRoom}
        </Button>
      </Empty>
    )
  }
  if (review.isError) {
    return (
      <div className="screen-trouble">
        <FailureNotice failure={failureOf(review.error)} onRetry={() => { void review.refetch() }} />
      </div>
    )
  }
  // What was read for an earlier result is not shown as this one's.
  if (review.data?.evidence.treeDigest !== task.result.treeDigest) return <Loading />
  return (
    <>
      <ReviewPanes review={review.data} />
      <ReviewActions task={task} review={review.data} />
    </>
  )
}

function ReviewPanes({ review }: { readonly review: Review }): ReactNode {
  const both = useMedia(bothPanes)
  const pane = useRef<DiffPaneHandle>(null)
  const [tab, setTab] = useState<'changes' | 'evidence'>('changes')
  const [style, setStyle] = useState<'unified' | 'split'>('unified')
  const [wrap, setWrap] = useState<'wrap' | 'scroll'>('scroll')
  const changes = review.files.map((file) => file.change)
  const additions = changes.reduce((sum, file) => sum + file.additions, 0)
  const deletions = changes.reduce((sum, file) => sum + file.deletions, 0)
  const showChanges = both || tab === 'changes'
  return (
    <div className={`review-body${both ? ' review-both' : ''}`}>
      <div className="review-files">
        <div className="review-sum">
          <span className="grow">{t.word.files({ n: changes.length })}</span>
          <span className="good">+{count(additions)}</span>
          <span className="bad">−{count(deletions)}</span>
        </div>
        <ChangedFiles
          files={changes}
          onShow={(path) => {
            setTab('changes')
            pane.current?.showFile(path)
          }}
        />
      </div>
      <div className="review-middle">
        <Toolbar tab={both ? null : tab} onTab={setTab} diff={showChanges} style={style} onStyle={setStyle} wrap={wrap} onWrap={setWrap} />
        {showChanges ? <DiffPane ref={pane} files={review.files} notes={review.notes} options={{ style, wrap: wrap === 'wrap' }} /> : <EvidencePane review={review} />}
      </div>
      {both ? <EvidencePane review={review} /> : null}
    </div>
  )
}

interface ToolbarProps {
  /** Which of the two panes is shown; null where both are. */
  readonly tab: 'changes' | 'evidence' | null
  readonly onTab: (tab: 'changes' | 'evidence') => void
  readonly diff: boolean
  readonly style: 'unified' | 'split'
  readonly onStyle: (style: 'unified' | 'split') => void
  readonly wrap: 'wrap' | 'scroll'
  readonly onWrap: (wrap: 'wrap' | 'scroll') => void
}

function Toolbar({ tab, onTab, diff, style, onStyle, wrap, onWrap }: ToolbarProps): ReactNode {
  return (
    <div className="review-toolbar">
      {tab === null ? null : (
        <Segments
          label={t.review.panes}
          value={tab}
          onChange={onTab}
          options={[
            { id: 'changes', label: t.review.changes },
            { id: 'evidence', label: t.review.evidence },
          ]}
        />
      )}
      <span className="grow" />
      {diff ? (
        <>
          <Segments
            label={t.review.lines}
            value={wrap}
            onChange={onWrap}
            options={[
              { id: 'scroll', label: t.review.scrollLines },
              { id: 'wrap', label: t.review.wrapLines },
            ]}
          />
          <Segments
            label={t.review.style}
            value={style}
            onChange={onStyle}
            options={[
              { id: 'unified', label: t.review.unified },
              { id: 'split', label: t.review.split },
            ]}
          />
        </>
      ) : null}
    </div>
  )
}
