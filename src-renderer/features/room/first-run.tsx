import { FileCheck2, FilePen, Play, ScrollText, ShieldCheck, Signature, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Author } from '../../../src-preload/contract/ids.ts'
import { failureOf } from '../../bridge.ts'
import { t } from '../../i18n/text.ts'
import { show } from '../../store/ui-store.ts'
import { Button } from '../../ui/button.tsx'
import { FailureNotice } from '../../ui/notice.tsx'
import { useRunSample } from './run-sample.ts'
import { StartNote } from '../start-note.tsx'

const steps: readonly { readonly name: keyof typeof t.first.steps; readonly icon: LucideIcon; readonly author: Author }[] = [
  { name: 'brief', icon: ScrollText, author: 'lead' }, { name: 'approve', icon: ShieldCheck, author: 'owner' }, { name: 'work', icon: FilePen, author: 'coder' },
  { name: 'verify', icon: FileCheck2, author: 'lead' }, { name: 'countersign', icon: Signature, author: 'owner' },
]

/** What somebody sees who has no task yet: what this is, and one button. */
export function FirstRun(): ReactNode {
  const sample = useRunSample()
  return (
    <div className="first">
      <div className="first-inner">
        <h1 className="first-title">{t.first.title}</h1>
        <ol className="first-path" aria-label={t.first.path}>
          {steps.map(({ name, icon: Icon, author }) => (
            <li key={name} className="first-step">
              <span className={`first-icon mark-${author}`}>
                <Icon className="icon" aria-hidden />
              </span>
              <span className="first-step-name">{t.first.steps[name]}</span>
              <span className="small quiet">{t.first.stepWho[name]}</span>
            </li>
          ))}
        </ol>
        <ul className="first-lines">
          {Object.values(t.first.lines).map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
        <div className="first-actions">
          <Button variant="primary" size="big" icon={Play} isPending={sample.isPending} onPress={() => { sample.run() }}>
            {t.first.runSample}
          </Button>
          <Button variant="plain" size="big" chord="mod+n" onPress={() => { show({ at: 'new-task' }) }}>
            {t.first.ownFolder}
          </Button>
        </div>
        <p className="quiet small"><StartNote pending={sample.isPending} usual={t.first.sampleNote} /></p>
        {sample.error === null ? null : <FailureNotice failure={failureOf(sample.error)} />}
      </div>
    </div>
  )
}
