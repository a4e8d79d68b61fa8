import type { ReactNode } from 'react'
import type { Settings } from '../../../src-preload/contract/settings.ts'
import { languageCodes, languages } from '../../../src-words/languages.ts'
import { t } from '../../i18n/text.ts'
import { useMethod } from '../../store/queries.ts'
import { Segments, Switch } from '../../ui/fields.tsx'
import { FailureNotice, Notice } from '../../ui/notice.tsx'
import { BudgetFields } from '../task-fields/budget-fields.tsx'
import { GrantFields } from '../task-fields/grant-fields.tsx'
import { ModelField } from '../task-fields/model-field.tsx'
import { useSave } from './use-save.ts'
import { VendorForm } from './vendor-form.tsx'

interface Props {
  readonly settings: Settings
}

/** Ways around the direct path; all of them off until the owner turns them on. */
export function FallbacksSection({ settings }: Props): ReactNode {
  const { save, failure } = useSave()
  // Without a program there is nothing to turn on.
  const needsProgram = settings.fallbacks.vendor === undefined
  const set = (change: Partial<Settings['fallbacks']>): void => {
    save({ ...settings, fallbacks: { ...settings.fallbacks, ...change } })
  }
  return (
    <div className="stack-wide">
      <p className="soft">{t.fallbacks.intro}</p>
      <Switch label={t.fallbacks.direct} hint={t.fallbacks.directHint} value={settings.fallbacks.directEnabled} onChange={(directEnabled) => { set({ directEnabled }) }} />
      <Switch label={t.fallbacks.warm} hint={needsProgram ? t.fallbacks.needsProgram : t.fallbacks.warmHint} isDisabled={needsProgram} value={settings.fallbacks.warmEnabled} onChange={(warmEnabled) => { set({ warmEnabled }) }} />
      <Switch label={t.fallbacks.exec} hint={needsProgram ? t.fallbacks.needsProgram : t.fallbacks.execHint} isDisabled={needsProgram} value={settings.fallbacks.execEnabled} onChange={(execEnabled) => { set({ execEnabled }) }} />
      <Notice title={t.fallbacks.cannot}>
        <ul className="notes">
          {Object.values(t.fallbacks.limits).map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </Notice>
      {failure === null ? null : <FailureNotice failure={failure} />}
      <VendorForm settings={settings} />
    </div>
  )
}

/** What a new task starts with. */
export function BudgetsSection({ settings }: Props): ReactNode {
  const { save, failure } = useSave()
  const providers = useMethod('providers.list', {})
  const set = (change: Partial<Settings['defaults']>): void => {
    save({ ...settings, defaults: { ...settings.defaults, ...change } })
  }
  return (
    <div className="stack-wide">
      <p className="soft">{t.budgets.intro}</p>
      <h2 className="section-title">{t.newTask.budget}</h2>
      <BudgetFields value={settings.defaults.budget} onChange={(budget) => { set({ budget }) }} foldKey="settings budget" />
      <h2 className="section-title">{t.newTask.may}</h2>
      <GrantFields value={settings.defaults.grant} onChange={(grant) => { set({ grant }) }} />
      <h2 className="section-title">{t.newTask.who}</h2>
      <div className="field-pair">
        <ModelField label={t.newTask.leadModel} views={providers.data ?? []} value={settings.defaults.lead} onChange={(lead) => { set({ lead }) }} />
        <ModelField label={t.newTask.coderModel} views={providers.data ?? []} value={settings.defaults.coder} onChange={(coder) => { set({ coder }) }} />
      </div>
      {failure === null ? null : <FailureNotice failure={failure} />}
    </div>
  )
}

/** How the window looks. */
export function AppearanceSection({ settings }: Props): ReactNode {
  const { save, failure } = useSave()
  const set = (change: Partial<Settings['appearance']>): void => {
    save({ ...settings, appearance: { ...settings.appearance, ...change } })
  }
  return (
    <div className="stack-wide">
      <Row label={t.appearance.theme}>
        <Segments
          label={t.appearance.theme}
          value={settings.appearance.theme}
          onChange={(theme) => { set({ theme }) }}
          options={[
            { id: 'system', label: t.appearance.system },
            { id: 'light', label: t.appearance.light },
            { id: 'dark', label: t.appearance.dark },
          ]}
        />
      </Row>
      <Row label={t.appearance.density}>
        <Segments
          label={t.appearance.density}
          value={settings.appearance.density}
          onChange={(density) => { set({ density }) }}
          options={[
            { id: 'comfortable', label: t.appearance.comfortable },
            { id: 'compact', label: t.appearance.compact },
          ]}
        />
      </Row>
      <Row label={t.appearance.language}>
        <Segments
          label={t.appearance.language}
          value={settings.appearance.language ?? 'system'}
          onChange={(language) => { set({ language }) }}
          options={[{ id: 'system', label: t.appearance.systemLanguage }, ...languageCodes.map((code) => ({ id: code, label: languages[code].own }))]}
        />
      </Row>
      {failure === null ? null : <FailureNotice failure={failure} />}
    </div>
  )
}

/** How the owner is told outside the window. */
export function AttentionSection({ settings }: Props): ReactNode {
  const { save, failure } = useSave()
  const set = (change: Partial<Settings['attention']>): void => {
    save({ ...settings, attention: { ...settings.attention, ...change } })
  }
  return (
    <div className="stack-wide">
      <p className="soft">{t.attention.intro}</p>
      <Switch label={t.attention.notify} hint={t.attention.notifyHint} value={settings.attention.notify} onChange={(notify) => { set({ notify }) }} />
      <Switch label={t.attention.badge} hint={t.attention.badgeHint} value={settings.attention.badge} onChange={(badge) => { set({ badge }) }} />
      <Switch label={t.attention.tray} hint={t.attention.trayHint} value={settings.attention.tray} onChange={(tray) => { set({ tray }) }} />
      {failure === null ? null : <FailureNotice failure={failure} />}
    </div>
  )
}

function Row({ label, children }: { readonly label: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="grant-line">
      <span className="grow">{label}</span>
      {children}
    </div>
  )
}
