import { useInfiniteQuery } from '@tanstack/react-query'
import { Download, Search, ShieldCheck } from 'lucide-react'
import { useMemo, useState, type ReactNode } from 'react'
import { Input, SearchField } from 'react-aria-components'
import type { TaskId } from '../../../src-preload/contract/ids.ts'
import type { AuditRow } from '../../../src-preload/contract/methods.ts'
import { callOrThrow, failureOf } from '../../bridge.ts'
import { t } from '../../i18n/text.ts'
import { useRoom, useTaskKeys } from '../../store/hooks.ts'
import { useAct } from '../../store/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/fields.tsx'
import { count } from '../../ui/format.ts'
import { FailureNotice, Loading, Notice } from '../../ui/notice.tsx'
import { Digest } from '../../ui/pieces.tsx'
import { say } from '../../ui/toasts.tsx'
import { AuditDetails } from './audit-details.tsx'
import { AuditTable } from './audit-table.tsx'
import './audit.css'

const pageRows = 100
const everyTask = 'all'

/** The journal, newest event first: filter it, look into one event, verify its chain, take it away. */
export function AuditScreen(): ReactNode {
  const [text, setText] = useState('')
  const [task, setTask] = useState<string>(everyTask)
  const [chosen, setChosen] = useState<AuditRow | null>(null)
  const taskId = task === everyTask ? null : (task as TaskId)
  const log = useInfiniteQuery({
    queryKey: ['audit.query', taskId, text],
    queryFn: ({ pageParam }) => callOrThrow('audit.query', { taskId, text, beforeSeq: pageParam, limit: pageRows }),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => (page.length < pageRows ? undefined : (page.at(-1)?.seq ?? undefined)),
    staleTime: 0,
  })
  const rows = useMemo(() => log.data?.pages.flat() ?? [], [log.data])
  return (
    <div className="audit">
      <header className="audit-head">
        <h1 className="audit-title">{t.audit.title}</h1>
        <SearchField className="audit-search" aria-label={t.audit.filter} value={text} onChange={(next) => { setText(next.slice(0, 200)) }}>
          <Search className="icon icon-small quiet" aria-hidden />
          <Input className="task-filter-input" placeholder={t.audit.filter} />
        </SearchField>
        <TaskFilter value={task} onChange={setTask} />
        <span className="grow" />
        <AuditActions taskId={taskId} />
      </header>
      <div className={`audit-body${chosen === null ? '' : ' audit-with-details'}`}>
        <div className="audit-list">
          {log.isError ? (
            <div className="screen-trouble">
              <FailureNotice failure={failureOf(log.error)} onRetry={() => { void log.refetch() }} />
            </div>
          ) : log.data === undefined ? (
            <Loading />
          ) : (
            <>
              <AuditTable rows={rows} onChoose={setChosen} />
              {log.hasNextPage ? (
                <div className="audit-more">
                  <Button size="small" isPending={log.isFetchingNextPage} onPress={() => { void log.fetchNextPage() }}>
                    {t.audit.older}
                  </Button>
                </div>
              ) : null}
            </>
          )}
        </div>
        {chosen === null ? null : <AuditDetails row={chosen} onClose={() => { setChosen(null) }} />}
      </div>
    </div>
  )
}

function TaskFilter({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }): ReactNode {
  const keys = useTaskKeys()
  const room = useRoom()
  const options = keys.map((key) => room.rows.task(key)).filter((row) => row !== undefined)
  return (
    <div className="audit-task">
      <Select
        label={t.audit.task}
        value={value}
        onChange={onChange}
        groups={[
          { label: t.audit.everything, options: [{ id: everyTask, label: t.audit.everyTask }] },
          { label: t.nav.tasks, options: options.map((row) => ({ id: row.taskId, label: row.title })) },
        ]}
      />
    </div>
  )
}

function AuditActions({ taskId }: { readonly taskId: TaskId | null }): ReactNode {
  const verify = useAct('audit.verify')
  const exporting = useAct('audit.export', ({ path }) => {
    if (path !== null) say({ tone: 'good', text: t.audit.exported, detail: path })
  })
  return (
    <>
      <Button icon={ShieldCheck} isPending={verify.isPending} onPress={() => { verify.mutate({}) }}>
        {t.audit.verify}
      </Button>
      <Button icon={Download} isPending={exporting.isPending} onPress={() => { exporting.mutate({ taskId }) }}>
        {t.audit.export}
      </Button>
      <div className="audit-outcome" role="status">
        {verify.isSuccess ? (
          verify.data.firstBadSeq === null ? (
            <Notice tone="good" title={t.audit.whole({ events: count(verify.data.events) })}>
              <span className="digest-fact">
                <span className="quiet small">{t.audit.head}</span>
                <Digest value={verify.data.headHash} />
              </span>
            </Notice>
          ) : (
            <Notice tone="bad" urgent title={t.audit.broken({ seq: count(verify.data.firstBadSeq) })}>
              {t.audit.brokenTodo}
            </Notice>
          )
        ) : null}
        {verify.isError ? <FailureNotice failure={failureOf(verify.error)} /> : null}
        {exporting.isError ? <FailureNotice failure={failureOf(exporting.error)} /> : null}
      </div>
    </>
  )
}
