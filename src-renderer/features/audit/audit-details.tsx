import { Copy, X } from 'lucide-react'
import { useMemo, type ReactNode } from 'react'
import type { AuditRow } from '../../../src-preload/contract/methods.ts'
import { t } from '../../i18n/text.ts'
import { IconButton } from '../../ui/button.tsx'
import { count, moment } from '../../ui/format.ts'
import { copyText, Digest, ExactText } from '../../ui/pieces.tsx'
import { isAsRecorded, summaryShown } from './summary.ts'

/** One event, whole. */
export function AuditDetails({ row, onClose }: { readonly row: AuditRow; readonly onClose: () => void }): ReactNode {
  const payload = useMemo(() => readable(row.payload), [row.payload])
  const summary = summaryShown(row)
  return (
    <aside className="audit-details" aria-label={t.audit.details}>
      <div className="line">
        <h2 className="clip grow mono">{row.type}</h2>
        <IconButton label={t.audit.copyPayload} icon={Copy} size="small" onPress={() => { void copyText(row.payload) }} />
        <IconButton label={t.word.close} icon={X} size="small" onPress={onClose} />
      </div>
      <p className="selectable" {...(isAsRecorded(row) ? { lang: 'en' } : {})}>{summary}</p>
      <dl className="facts">
        {summary === row.summary ? null : (
          <>
            <dt>{t.audit.recorded}</dt>
            <dd className="selectable" lang="en">{row.summary}</dd>
          </>
        )}
        <dt>{t.audit.seq}</dt>
        <dd className="mono">{count(row.seq)}</dd>
        <dt>{t.audit.time}</dt>
        <dd>{moment(row.at)}</dd>
        <dt>{t.audit.actor}</dt>
        <dd>{row.actor}</dd>
        <dt>{t.audit.task}</dt>
        <dd className="mono">{row.taskId ?? t.word.none}</dd>
        <dt>{t.audit.hash}</dt>
        <dd>
          <Digest value={row.hash} />
        </dd>
      </dl>
      <pre className="code audit-payload" tabIndex={0} aria-label={t.audit.payload}>
        <ExactText text={payload} strictness="prose" />
      </pre>
    </aside>
  )
}

/** JSON with line breaks, or the text as it is. */
function readable(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2)
  } catch {
    return payload
  }
}
