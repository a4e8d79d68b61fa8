import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { AppInfo } from '../../../src-preload/contract/methods.ts'
import { failureOf } from '../../bridge.ts'
import { t } from '../../i18n/text.ts'
import { useAct } from '../../store/queries.ts'
import { Switch } from '../../ui/fields.tsx'
import { FailureNotice } from '../../ui/notice.tsx'
import { Path } from '../../ui/pieces.tsx'
import { DiagnosticsSection } from './diagnostics.tsx'

/** The app on its system: whether it opens at login, and what is there when something went wrong. */
export function SystemSection({ info }: { readonly info: AppInfo }): ReactNode {
  return (
    <div className="stack-wide">
      {info.openAtLogin === null ? null : <LoginSwitch on={info.openAtLogin} />}
      <section className="stack-tight" aria-labelledby="crash-reports">
        <h2 className="section-title" id="crash-reports">{t.system.crashes}</h2>
        <p className="soft">{t.system.crashesHint}</p>
        <Path value={info.crashReports} />
      </section>
      <DiagnosticsSection />
    </div>
  )
}

function LoginSwitch({ on }: { readonly on: boolean }): ReactNode {
  const queries = useQueryClient()
  // Shown at once: reading all of the app's info again takes its time.
  const set = useAct('login.set', (_done, { on: now }) => { queries.setQueryData<AppInfo>(['app.info', {}], (info) => info === undefined ? undefined : { ...info, openAtLogin: now }) })
  return (
    <div className="stack-tight">
      <Switch label={t.system.login} hint={t.system.loginHint} value={set.isPending ? set.variables.on : on} isDisabled={set.isPending} onChange={(next) => { set.mutate({ on: next }) }} />
      {set.isError ? <FailureNotice failure={failureOf(set.error)} /> : null}
    </div>
  )
}
