import { ArrowLeft, CircleStop, Ellipsis, FileCheck2, LoaderCircle, PanelRight, ShieldCheck } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components'
import { rowKey, type TaskRow } from '../../../src-preload/contract/rows.ts'
import { failureOf, newCommandId } from '../../bridge.ts'
import { translated } from '../../i18n/language.ts'
import { t } from '../../i18n/text.ts'
import { useNowMs } from '../../store/clock.ts'
import { useEntry, useHold } from '../../store/hooks.ts'
import { useAct } from '../../store/queries.ts'
import { show, useUi } from '../../store/ui-store.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { countdown, duration } from '../../ui/format.ts'
import { FailureNotice } from '../../ui/notice.tsx'
import { copyText, PlainText } from '../../ui/pieces.tsx'
import { say } from '../../ui/toasts.tsx'
import { StatusGlyph, isUnfinished, statusTones } from './status-glyph.tsx'
import { Uncertain } from './uncertain.tsx'
import { WriteBriefDialog } from './write-brief.tsx'

/** The shown task: its title, its status and facets, what happens now, and what the owner can do about it. There is one. */
export function TaskHeader({ task, inspector }: { readonly task: TaskRow; readonly inspector?: { readonly open: boolean; readonly toggle: () => void } }): ReactNode {
  const [writing, setWriting] = useState(false)
  const atReview = useUi((ui) => ui.screen.at === 'review')
  return (
    <>
      <header className="task-header" data-status={task.status} data-task-id={task.taskId}>
        <div className="task-header-line">
          {atReview ? (
            <IconButton label={t.review.toRoom} icon={ArrowLeft} size="small" chord="mod+1" className="task-back" onPress={() => { show({ at: 'room' }) }} />
          ) : (
            <StatusGlyph task={task} />
          )}
          <h1 className="task-title clip" title={task.title}>
            {task.title}
          </h1>
          <Badge tone={statusTones[task.status]}>{t.status[task.status]}</Badge>
          {task.disposition === null ? null : <Badge>{t.disposition[task.disposition]}</Badge>}
          <span className="grow" />
          {task.result === null || atReview || task.status === 'result-ready' ? null : (
            <Button
              size="small"
              icon={FileCheck2}
              chord="mod+2"
              onPress={() => {
                show({ at: 'review' })
              }}
            >
              {t.room.review}
            </Button>
          )}
          <StopButton task={task} />
          <TaskMenu
            task={task}
            onWriteBrief={() => {
              setWriting(true)
            }}
          />
          {inspector === undefined ? null : <IconButton label={inspector.open ? t.room.hideInspector : t.room.showInspector} icon={PanelRight} size="small" chord="mod+i" aria-pressed={inspector.open} onPress={inspector.toggle} />}
        </div>
        <Activity task={task} />
      </header>
      {task.recovery === null ? null : <Uncertain task={task} recovery={task.recovery} />}
      {task.failure === null ? null : (
        <div className="task-trouble">
          <FailureNotice failure={task.failure} />
        </div>
      )}
      {writing ? (
        <WriteBriefDialog
          task={task}
          onClose={() => {
            setWriting(false)
          }}
        />
      ) : null}
    </>
  )
}

function StopButton({ task }: { readonly task: TaskRow }): ReactNode {
  const stop = useAct('task.stop')
  if (!isUnfinished(task.status) && task.cancel?.state !== 'requested') return null
  const requested = task.cancel !== null || stop.isPending
  return (
    <>
      <Button
        size="small"
        variant="danger"
        icon={CircleStop}
        chord="mod+."
        isPending={stop.isPending}
        isDisabled={requested}
        onPress={() => {
          stop.mutate({ commandId: newCommandId(), taskId: task.taskId }, { onError: (error) => { say({ tone: 'bad', text: failureOf(error).message, detail: failureOf(error).todo }) } })
        }}
      >
        {t.room.stop}
      </Button>
    </>
  )
}

function TaskMenu({ task, onWriteBrief }: { readonly task: TaskRow; readonly onWriteBrief: () => void }): ReactNode {
  const exporting = useAct('audit.export', ({ path }) => {
    if (path !== null) say({ tone: 'good', text: t.audit.exported, detail: path })
  })
  return (
    <MenuTrigger>
      <AriaButton className="button button-plain button-icon button-small" aria-label={t.word.more}>
        <Ellipsis className="icon" aria-hidden />
      </AriaButton>
      <Popover className="popover" placement="bottom end">
        <Menu className="menu" aria-label={t.word.more}>
          {isUnfinished(task.status) ? (
            <MenuItem className="option" onAction={onWriteBrief}>
              {t.row.writeBrief}
            </MenuItem>
          ) : null}
          <MenuItem className="option" onAction={() => { exporting.mutate({ taskId: task.taskId }) }}>
            {t.audit.exportTask}
          </MenuItem>
          <MenuItem className="option" onAction={() => { void copyText(task.taskId) }}>
            {t.room.copyTaskId}
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  )
}

/** What happens now and since when; the line is always there, so that nothing jumps when work begins or ends. */
function Activity({ task }: { readonly task: TaskRow }): ReactNode {
  const now = useNowMs(task.activity !== null || task.cancel?.state === 'requested')
  if (task.cancel?.state === 'requested') {
    return (
      <div className="task-activity warn" data-cancel="requested">
        <LoaderCircle className="icon icon-small spin" aria-hidden />
        <span>{t.room.stopRequested}</span>
        <span className="clip">
          {t.room.stopping} · {countdown(now - task.cancel.at)}
        </span>
      </div>
    )
  }
  if (task.cancel?.state === 'observed') {
    const { proof } = task.cancel
    return (
      <div className="task-activity" data-cancel="observed">
        <ShieldCheck className="icon icon-small good" aria-hidden />
        <span>{t.room.stopped}</span>
        <span className="soft clip" title={translated(proof.detail)}>
          {t.room.stoppedProof({ processes: proof.checkedProcesses })}, {t.room.stopMethods[proof.method]} · {duration(task.cancel.at - task.cancel.requestedAt)}
        </span>
      </div>
    )
  }
  const waits = task.waiting === null ? null : task.waiting.for === 'approval' ? t.room.waitingApproval({ n: task.waiting.approvalIds.length }) : t.room.waitingInput
  return (
    <div className="task-activity">
      {waits === null ? null : (
        <span data-waiting={task.waiting?.for}>
          <Badge tone="warn">{waits}</Badge>
        </span>
      )}
      {task.activity === null && task.waiting !== null ? <WaitsSince taskId={task.taskId} waiting={task.waiting} /> : null}
      {task.activity === null ? (
        <span className="quiet clip">
          {task.source.kind === 'sample' ? t.room.sampleSource : <PlainText text={task.source.path ?? task.source.label} />}
          {task.revisionOf === null ? '' : ` · ${t.room.revisionOf}`}
        </span>
      ) : (
        <>
          {waits === null ? <span className="activity-dot pulse" aria-hidden /> : null}
          {task.activity.label === waits ? null : <span className="clip">{translated(task.activity.label)}</span>}
          <span className="quiet nowrap">
            <span className="unseen">{t.room.elapsed}</span> {countdown(now - task.activity.since)}
          </span>
          {task.activity.waitingFor === null ? null : <Waiting activity={task.activity} now={now} />}
        </>
      )}
    </div>
  )
}

/** Since when the owner is waited for. */
function WaitsSince({ taskId, waiting }: { readonly taskId: string; readonly waiting: NonNullable<TaskRow['waiting']> }): ReactNode {
  const hold = useHold(waiting.for === 'approval' ? rowKey.hold(waiting.approvalIds[0] ?? '') : '')
  const question = useEntry(waiting.for === 'input' ? rowKey.entry(taskId, `question:${waiting.questionId}`) : '')
  const since = hold?.openedAt ?? question?.at
  const now = useNowMs(since !== undefined)
  return since === undefined ? null : <span className="quiet nowrap" data-waits-since>{countdown(now - since)}</span>
}

/** What is waited for, since when, and when it is tried again. */
function Waiting({ activity, now }: { readonly activity: NonNullable<TaskRow['activity']>; readonly now: number }): ReactNode {
  const { waitingSince, nextTryAt } = activity
  const what = translated(activity.waitingFor ?? '')
  return (
    <span className="warn waits" data-waiting-for title={what}>
      <span className="clip">{t.room.waitsFor({ what })}</span>
      <span className="nowrap">
        {waitingSince == null ? null : ` · ${countdown(now - waitingSince)}`}
        {nextTryAt == null || nextTryAt <= now ? null : ` · ${t.room.nextTry({ time: countdown(nextTryAt - now) })}`}
      </span>
    </span>
  )
}
