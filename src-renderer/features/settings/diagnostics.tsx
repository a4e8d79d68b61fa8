import type { ReactNode } from 'react'
import { failureOf } from '../../bridge.ts'
import { t } from '../../i18n/text.ts'
import { useAct } from '../../store/queries.ts'
import { Button } from '../../ui/button.tsx'
import { FailureNotice, Notice } from '../../ui/notice.tsx'
import { Digest, Path } from '../../ui/pieces.tsx'

/** What the owner may hand to somebody who helps: shown whole, and saved only as it was shown. */
export function DiagnosticsSection(): ReactNode {
  const save = useAct('diagnostics.save')
  const prepare = useAct('diagnostics.preview', () => { save.reset() })
  const shown = prepare.data
  return (
    <section className="stack" aria-labelledby="diagnostics">
      <h2 className="section-title" id="diagnostics">{t.system.diagnostics}</h2>
      <p className="soft">{t.system.diagnosticsHint}</p>
      {prepare.isError ? <FailureNotice failure={failureOf(prepare.error)} /> : null}
      {shown === undefined ? null : (
        <>
          <pre className="code diagnostics" tabIndex={0} role="region" aria-label={t.system.preview}>{shown.text}</pre>
          <div className="line quiet small">
            {t.word.lines({ n: shown.text.split('\n').length - 1 })}
            <Digest value={shown.digest} />
          </div>
        </>
      )}
      {save.isError ? <FailureNotice failure={failureOf(save.error)} /> : null}
      {save.data?.path == null ? null : <Notice tone="good" title={t.system.saved}><Path value={save.data.path} /></Notice>}
      <div className="line">
        {shown === undefined ? null : <Button variant="primary" isPending={save.isPending} isDisabled={prepare.isPending} onPress={() => { save.mutate({ digest: shown.digest }) }}>{t.system.save}</Button>}
        <Button isPending={prepare.isPending} isDisabled={save.isPending} onPress={() => { prepare.mutate({}) }}>{shown === undefined ? t.system.prepare : t.system.again}</Button>
      </div>
    </section>
  )
}
