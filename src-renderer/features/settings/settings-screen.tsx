import { BellRing, Boxes, Cable, Gauge, HardDrive, KeyRound, KeySquare, LifeBuoy, Palette, RefreshCw, ShieldCheck, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button as AriaButton } from 'react-aria-components'
import { failureOf } from '../../bridge.ts'
import { t } from '../../i18n/text.ts'
import { useMethod } from '../../store/queries.ts'
import { settingsSections, show, type SettingsSection } from '../../store/ui-store.ts'
import { FailureNotice, Loading } from '../../ui/notice.tsx'
import { AppearanceSection, AttentionSection, BudgetsSection, FallbacksSection } from './choices.tsx'
import { GrantsSection } from './grants.tsx'
import { IsolationSection, RuntimesSection } from './machine.tsx'
import { ProvidersSection } from './providers.tsx'
import { StorageSection } from './storage.tsx'
import { SystemSection } from './system.tsx'
import { UpdatesSection } from './updates.tsx'
import './settings.css'

const icons: Readonly<Record<SettingsSection, LucideIcon>> = { providers: KeyRound, runtimes: Boxes, isolation: ShieldCheck, grants: KeySquare, fallbacks: Cable, budgets: Gauge, appearance: Palette, attention: BellRing, updates: RefreshCw, storage: HardDrive, system: LifeBuoy }

/** Settings: a list of sections at the left, one of them at the right. */
export function SettingsScreen({ section }: { readonly section: SettingsSection }): ReactNode {
  const settings = useMethod('settings.get', {})
  const info = useMethod('app.info', {}, { staleTimeMs: 10_000 })
  const failed = settings.error ?? info.error
  return (
    <div className="settings">
      <nav className="settings-nav" aria-label={t.nav.settings}>
        {settingsSections.map((id) => {
          const Icon = icons[id]
          return (
            <AriaButton key={id} className={`nav-button${id === section ? ' nav-current' : ''}`} aria-current={id === section ? 'page' : false} onPress={() => { show({ at: 'settings', section: id }) }}>
              <Icon className="icon" aria-hidden />
              {t.settings.sections[id]}
            </AriaButton>
          )
        })}
      </nav>
      <div className="screen" tabIndex={-1}>
        <div className="screen-column settings-column">
          <h1 className="screen-title">{t.settings.sections[section]}</h1>
          {failed !== null ? (
            <FailureNotice failure={failureOf(failed)} onRetry={() => { void settings.refetch(); void info.refetch() }} />
          ) : settings.data === undefined || info.data === undefined ? (
            <Loading />
          ) : section === 'providers' ? (
            <ProvidersSection info={info.data} />
          ) : section === 'runtimes' ? (
            <RuntimesSection settings={settings.data} info={info.data} />
          ) : section === 'isolation' ? (
            <IsolationSection settings={settings.data} info={info.data} />
          ) : section === 'grants' ? (
            <GrantsSection />
          ) : section === 'fallbacks' ? (
            <FallbacksSection settings={settings.data} />
          ) : section === 'budgets' ? (
            <BudgetsSection settings={settings.data} />
          ) : section === 'appearance' ? (
            <AppearanceSection settings={settings.data} />
          ) : section === 'attention' ? (
            <AttentionSection settings={settings.data} />
          ) : section === 'updates' ? (
            <UpdatesSection settings={settings.data} version={info.data.versions.app} />
          ) : section === 'storage' ? (
            <StorageSection settings={settings.data} />
          ) : (
            <SystemSection info={info.data} />
          )}
        </div>
      </div>
    </div>
  )
}
