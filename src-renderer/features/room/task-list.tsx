import { Search } from 'lucide-react'
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { Input, ListBox, ListBoxItem, SearchField, type Key } from 'react-aria-components'
import type { TaskRow } from '../../../src-preload/contract/rows.ts'
import { t } from '../../i18n/text.ts'
import { useNowMs } from '../../store/clock.ts'
import { useRoom, useTask, useTaskKeys } from '../../store/hooks.ts'
import { changeUi, showTask, useUi } from '../../store/ui-store.ts'
import { countdown } from '../../ui/format.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { StatusGlyph } from './status-glyph.tsx'

/** So many are drawn at once, and more when asked for: somebody who keeps hundreds looks at the newest, or filters. */
const listStep = 50

/** All tasks, newest first: what they are, how they stand, and which of them wait for the owner. */
export function TaskList(): ReactNode {
  const keys = useTaskKeys()
  const filter = useUi((ui) => ui.taskFilter)
  // Elsewhere no task is chosen, so that choosing one always leads back to its room.
  const shown = useUi((ui) => (ui.screen.at === 'room' || ui.screen.at === 'review' ? ui.taskId : null))
  const room = useRoom()
  const visible = useMemo(() => {
    const wanted = filter.trim().toLowerCase()
    return wanted === '' ? keys : keys.filter((key) => `${room.rows.task(key)?.title ?? ''} ${room.rows.task(key)?.source.label ?? ''}`.toLowerCase().includes(wanted))
  }, [keys, filter, room])
  const [bound, setBound] = useState(listStep)
  const items = useMemo(() => visible.filter((key, index) => index < bound || key === `task:${shown ?? ''}`).map((key) => ({ id: key })), [visible, bound, shown])
  const older = visible.length - items.length
  const list = useRef<HTMLDivElement>(null)
  const goesOnAt = useRef<string | null>(null)
  // The button that was pressed goes with the last step: the keyboard goes on at what came in with it.
  useEffect(() => {
    const key = goesOnAt.current
    goesOnAt.current = null
    if (older > 0 || key === null) return
    // The list draws its new rows behind this.
    const drawn = requestAnimationFrame(() => { list.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus() })
    return () => { cancelAnimationFrame(drawn) }
  }, [older])
  return (
    <>
      <SearchField
        className="task-filter"
        aria-label={t.nav.filter}
        value={filter}
        onChange={(taskFilter) => {
          changeUi({ taskFilter })
        }}
      >
        <Search className="icon icon-small quiet" aria-hidden />
        <Input id="task-filter" className="task-filter-input" placeholder={t.nav.filter} />
      </SearchField>
      <ListBox
        ref={list}
        className="task-list"
        aria-label={t.nav.tasks}
        items={items}
        selectionMode="single"
        selectionBehavior="replace"
        disallowEmptySelection
        selectedKeys={shown === null ? [] : [`task:${shown}`]}
        onSelectionChange={(selection) => {
          select(selection === 'all' ? undefined : [...selection][0], room.rows.task.bind(room.rows))
        }}
        renderEmptyState={() => <div className="task-list-empty quiet small">{t.nav.noMatch}</div>}
      >
        {(item) => <TaskListRow id={item.id} />}
      </ListBox>
      {older === 0 ? null : <Button variant="plain" size="small" onPress={() => { goesOnAt.current = visible[bound] ?? null; setBound(bound + listStep) }}>{t.nav.older({ n: older })}</Button>}
    </>
  )
}

function select(key: Key | undefined, read: (key: string) => TaskRow | undefined): void {
  const task = typeof key === 'string' ? read(key) : undefined
  if (task !== undefined) showTask(task.taskId)
}

function TaskListRow({ id }: { readonly id: string }): ReactNode {
  const task = useTask(id)
  // A collection item must exist even in the moment in which its row has just gone.
  return (
    <ListBoxItem id={id} className="task-row" textValue={task?.title ?? id}>
      {task === undefined ? null : <TaskSummary task={task} />}
    </ListBoxItem>
  )
}

function TaskSummary({ task }: { readonly task: TaskRow }): ReactNode {
  const now = useNowMs(task.activity !== null)
  const waits = waitsFor(task)
  const facts = [t.status[task.status], task.disposition === null ? null : t.disposition[task.disposition], task.activity === null ? null : countdown(now - task.activity.since), task.source.kind === 'folder' ? task.source.label : null]
  const note = facts.filter((fact) => fact !== null).join(' · ')
  return (
    <>
      <StatusGlyph task={task} />
      <span className="task-row-text">
        <span className="task-row-title clip" dir="auto">{task.title}</span>
        <span className="task-row-note clip" dir="auto" title={note}>{note}</span>
      </span>
      {waits === null ? null : (
        <Badge tone="warn" title={waits}>
          <span className="unseen">{waits}</span>
          <span aria-hidden>{task.waiting?.for === 'approval' ? task.waiting.approvalIds.length : '!'}</span>
        </Badge>
      )}
    </>
  )
}

/** What a task wants from the owner, in words; null when nothing. */
function waitsFor(task: TaskRow): string | null {
  if (task.recovery !== null) return t.nav.uncertain
  if (task.waiting?.for === 'approval') return t.nav.waitsApproval
  if (task.waiting?.for === 'input') return t.nav.waitsInput
  return task.status === 'result-ready' ? t.nav.waitsReview : null
}
