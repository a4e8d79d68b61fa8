import { HardDrive } from 'lucide-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { WorkspaceUse } from '../../../src-preload/contract/methods.ts'
import type { Settings } from '../../../src-preload/contract/settings.ts'
import { failureOf } from '../../bridge.ts'
import { t } from '../../i18n/text.ts'
import { useAct, useMethod } from '../../store/queries.ts'
import { showTask } from '../../store/ui-store.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { NumberField } from '../../ui/fields.tsx'
import { bytes } from '../../ui/format.ts'
import { Empty, FailureNotice, Loading } from '../../ui/notice.tsx'
import { useSave } from './use-save.ts'

const gibibyte = 1024 ** 3

/** The workspaces on disk with their sizes; cleaning up is the owner's. */
export function StorageSection({ settings }: { readonly settings: Settings }): ReactNode {
  const list = useMethod('workspace.list', {}, { staleTimeMs: 0 })
  const [removing, setRemoving] = useState<WorkspaceUse | null>(null)
  const { save, failure } = useSave()
  if (list.isError) return <FailureNotice failure={failureOf(list.error)} onRetry={() => { void list.refetch() }} />
  if (list.data === undefined) return <Loading />
  const { uses, totalBytes, quotaBytes } = list.data
  const share = Math.min(1, totalBytes / quotaBytes)
  return (
    <div className="stack-wide">
      <div className="meter" data-level={share >= 1 ? 'full' : share >= 0.8 ? 'high' : 'fine'}>
        <div className="line">
          <span className="grow">{t.storage.used}</span>
          <span>
            {bytes(totalBytes)} <span className="quiet">/ {bytes(quotaBytes)}</span>
          </span>
        </div>
        <div className="meter-track" role="meter" aria-label={t.storage.used} aria-valuemin={0} aria-valuemax={quotaBytes} aria-valuenow={Math.min(totalBytes, quotaBytes)} aria-valuetext={`${bytes(totalBytes)} / ${bytes(quotaBytes)}`}>
          <span className="meter-used" style={{ width: `${(share * 100).toFixed(1)}%` }} />
        </div>
      </div>
      {uses.length === 0 ? (
        <Empty icon={HardDrive} title={t.storage.none} />
      ) : (
        <UseTable uses={uses} onRemove={setRemoving} />
      )}
      <div className="field-grid">
        <NumberField label={t.storage.quota} hint={t.storage.quotaHint} value={Math.round((settings.workspaceQuotaBytes / gibibyte) * 10) / 10} step={0.1} min={0.1} max={10_000} onChange={(gib) => { save({ ...settings, workspaceQuotaBytes: Math.max(64 * 1024 * 1024, Math.round(gib * gibibyte)) }) }} />
      </div>
      {failure === null ? null : <FailureNotice failure={failure} />}
      {removing === null ? null : <RemoveDialog use={removing} onClose={() => { setRemoving(null) }} />}
    </div>
  )
}

function UseTable({ uses, onRemove }: { readonly uses: readonly WorkspaceUse[]; readonly onRemove: (use: WorkspaceUse) => void }): ReactNode {
  return (
    <table className="plain-table">
      <thead>
        <tr>
          <th scope="col">{t.storage.task}</th>
          <th scope="col" className="number">
            {t.storage.size}
          </th>
          <th scope="col">
            <span className="unseen">{t.storage.action}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {uses.map((use) => (
          <tr key={use.taskId}>
            <td>
              <Button variant="plain" size="small" className="button-inline" onPress={() => { showTask(use.taskId) }}>
                {use.title}
              </Button>
            </td>
            <td className="number">{bytes(use.bytes)}</td>
            <td className="number">
              {use.disposable ? (
                <Button size="small" aria-label={`${t.storage.cleanUp}: ${use.title}`} onPress={() => { onRemove(use) }}>
                  {t.storage.cleanUp}
                </Button>
              ) : (
                <span className="quiet small">{t.storage.inUse}</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function RemoveDialog({ use, onClose }: { readonly use: WorkspaceUse; readonly onClose: () => void }): ReactNode {
  const queries = useQueryClient()
  const remove = useAct('workspace.remove', () => {
    void queries.invalidateQueries({ queryKey: ['workspace.list'] })
    onClose()
  })
  return (
    <ConfirmDialog title={t.storage.cleanUpTitle} hint={t.storage.cleanUpHint} confirm={t.storage.cleanUp} act={remove} onClose={onClose} onConfirm={() => { remove.mutate({ taskId: use.taskId }) }} subject={<p><strong>{use.title}</strong>, {bytes(use.bytes)}</p>} />
  )
}
