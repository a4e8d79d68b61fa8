import { useMemo, type ReactNode } from 'react'
import type { ProviderView } from '../../../src-preload/contract/settings.ts'
import type { ModelRef } from '../../../src-preload/contract/task.ts'
import { translated } from '../../i18n/language.ts'
import { t } from '../../i18n/text.ts'
import { Select, type OptionGroup } from '../../ui/fields.tsx'

const separator = '\n'
const idOf = (ref: ModelRef): string => `${ref.providerId}${separator}${ref.modelId}`

/** The first model of the offline demo, or of whatever is configured; null when nothing is. */
export function anyModel(views: readonly ProviderView[]): ModelRef | null {
  const view = views.find((one) => one.origin === 'built-in-demo') ?? views[0]
  const model = view?.provider.models[0]
  return view === undefined || model === undefined ? null : { providerId: view.provider.id, modelId: model.id }
}

/** Whether a reference names a model that is configured. */
export function isKnownModel(views: readonly ProviderView[], ref: ModelRef | null): boolean {
  return ref !== null && views.some((view) => view.provider.id === ref.providerId && view.provider.models.some((model) => model.id === ref.modelId))
}

/** Which configured model plays a bot. */
export function ModelField({ label, hint, value, onChange, views, error }: { readonly label: string; readonly hint?: string; readonly value: ModelRef | null; readonly onChange: (ref: ModelRef) => void; readonly views: readonly ProviderView[]; readonly error?: string | undefined }): ReactNode {
  const groups = useMemo<readonly OptionGroup[]>(
    () =>
      views.map((view) => ({
        label: `${translated(view.provider.label)}${view.remote ? ` · ${t.models.remote}` : ` · ${t.models.local}`}${view.key === 'missing' ? ` · ${t.models.noKey}` : ''}`,
        options: view.provider.models.map((model) => ({ id: idOf({ providerId: view.provider.id, modelId: model.id }), label: model.label ?? model.id, ...(model.label === undefined ? {} : { note: model.id }) })),
      })),
    [views],
  )
  const chosen = views.find((view) => view.provider.id === value?.providerId)
  return (
    <Select
      label={label}
      hint={chosen?.remote === true ? t.models.remoteHint : hint}
      error={error}
      placeholder={t.models.choose}
      value={value === null ? null : idOf(value)}
      groups={groups}
      onChange={(id) => {
        const [providerId = '', modelId = ''] = id.split(separator)
        onChange({ providerId, modelId })
      }}
    />
  )
}
