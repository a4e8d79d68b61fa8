import { useState, type ReactNode } from 'react'
import type { TaskRow } from '../../../src-preload/contract/rows.ts'
import type { Recovery, RecoveryExit } from '../../../src-preload/contract/task.ts'
import { failureOf, newCommandId } from '../../bridge.ts'
import { translated } from '../../i18n/language.ts'
import { t } from '../../i18n/text.ts'
import { useAct } from '../../store/queries.ts'
import { Button } from '../../ui/button.tsx'
import { useGrace } from '../../ui/grace.ts'
import { late } from '../../ui/late.tsx'
import { FailureNotice, Notice } from '../../ui/notice.tsx'
import { exitWords, uncertainOf } from './exit-words.ts'

const recoveryExits = Object.keys({ 're-check': 1, 'mark-done': 2, 'mark-not-done': 3, resend: 4 } satisfies Record<RecoveryExit, number>) as readonly RecoveryExit[]
const revise = late(async () => (await import('../review/revise-dialog.tsx')).ReviseDialog, null)
const reject = late(async () => (await import('../review/reject-dialog.tsx')).RejectDialog, null)
const end = late(async () => (await import('../../ui/confirm-dialog.tsx')).ConfirmDialog, null)

/** What is uncertain about a task, and the ways out. Where a result's files are others, these are its own: the result is rejected or revised. */
export function Uncertain({ task, recovery }: { readonly task: TaskRow; readonly recovery: Recovery }): ReactNode {
  const recover = useAct('task.recover')
  const [asking, setAsking] = useState<'end' | 'reject' | 'revise' | null>(null)
  const about = uncertainOf(task, recovery)
  const ofResult = about === 'result'
  // It comes by itself, perhaps under a pointer that was on its way to something else.
  const open = useGrace(recovery.what)
  const choose = (exit: RecoveryExit): void => {
    recover.mutate({ commandId: newCommandId(), taskId: task.taskId, exit })
  }
  return (
    <div className="task-trouble" data-recovery="uncertain">
      <Notice tone="warn" title={`${t.room.uncertain}: ${translated(recovery.what)}`}>
        <div className="soft">{ofResult ? t.room.uncertainResult : t.room.uncertainWhy}</div>
        <div role="status">{recovery.checking === true ? t.room.rechecking : null}</div>
        {recover.isError && asking !== 'reject' && asking !== 'end' ? <FailureNotice failure={failureOf(recover.error)} /> : null}
        <div className="exits">
          {(recovery.exits ?? recoveryExits).map((exit) => (
            <Button
              key={exit}
              size="small"
              tip={exitWords(task, recovery, exit).tip}
              isDisabled={!open || recover.isPending}
              isPending={(recover.isPending && recover.variables.exit === exit) || (recovery.checking === true && exit === 're-check')}
              onPress={() => {
                // Of what is being applied it says that it waits again; else it is the end of a task, or of its result.
                if (exit !== 'mark-not-done' || about === 'apply') { choose(exit); return }
                recover.reset()
                setAsking(ofResult ? 'reject' : 'end')
              }}
            >
              {exitWords(task, recovery, exit).label}
            </Button>
          ))}
          {ofResult ? (
            <Button size="small" tip={t.review.reviseHint} isDisabled={recover.isPending} onPress={() => { setAsking('revise') }}>
              {t.review.reviseConfirm}
            </Button>
          ) : null}
        </div>
      </Notice>
      {asking === 'revise' ? <revise.View task={task} onClose={() => { setAsking(null) }} /> : null}
      {asking === 'reject' ? <reject.View act={recover} asksReason={false} onClose={() => { setAsking(null) }} onReject={() => { choose('mark-not-done') }} /> : null}
      {asking === 'end' ? <end.View title={t.room.endTitle} hint={t.room.endHint} confirm={t.room.exits['mark-not-done']} act={recover} onClose={() => { setAsking(null) }} onConfirm={() => { choose('mark-not-done') }} /> : null}
    </div>
  )
}
