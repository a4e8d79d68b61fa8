import { FileCheck2, FilePen, Play, ScrollText, ShieldCheck, Signature, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { failureOf } from '../../bridge.ts'
import { t } from '../../i18n/text.ts'
import { show } from '../../store/ui-store.ts'
import { Button } from '../../ui/button.tsx'
import { FailureNotice } from '../../ui/notice.tsx'
import { useRunSample } from './run-sample.ts'
import { StartNote } from '../start-note.tsx'

const stepIcons: readonly LucideIcon[] = [ScrollText, ShieldCheck, FilePen, FileCheck2, Signature]
const stepAuthors = ['lead', 'owner', 'coder', 'lead', 'owner'] as const

/** What somebody sees who has no task yet: what this is, and one button. */
export function FirstRun(): ReactNode {
  const sample = useRunSample()
  return (
    <div className="first">
      <div className="first-inner">
        <h1 className="first-title">{t.first.title}</h1>
        <ol className="first-path" aria-label={t.first.path}>
          {t.first.steps.map((step, index) => {
            const Icon = stepIcons[index] ?? ScrollText
            return (
              <li key={step} className="first-step">
                <span className={`first-icon mark-${stepAuthors[index] ?? 'owner'}`}>
                  <Icon className="icon" aria-hidden />
                </span>
                <span className="first-step-name">{step}</span>
                <span className="small quiet">{t.first.stepWho[index]}</span>
              </li>
            )
          })}
        </ol>
        <ul className="first-lines">
          {t.first.lines.map((line) => (
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
