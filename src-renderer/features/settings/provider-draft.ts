import type { Provider, ProviderView } from '../../../src-preload/contract/settings.ts'
import { t } from '../../i18n/text.ts'

/** A provider that is being added or edited. `models`: one id a line. `key` empty: leave the stored one as it is. */
export interface ProviderDraft {
  readonly id: string
  readonly label: string
  readonly baseUrl: string
  readonly api: 'chat' | 'responses'
  readonly models: string
  readonly key: string
  readonly keyEnv: string
  /** What the form does not show and must not lose: labels, limits and prices of models. */
  readonly before: Provider | null
}

/** The form for a provider; null: for a new one. */
export function providerDraft(provider: Provider | null): ProviderDraft {
  return { id: provider?.id ?? '', label: provider?.label ?? '', baseUrl: provider?.baseUrl ?? '', api: provider?.api ?? 'chat', models: provider?.models.map((model) => model.id).join('\n') ?? '', key: '', keyEnv: provider?.keyEnv ?? '', before: provider }
}

/** An id made of a label: lower-case letters, digits and hyphens. */
export function idFrom(label: string): string {
  return label.toLowerCase().normalize('NFKD').replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 64)
}

const modelIds = (draft: ProviderDraft): readonly string[] => [...new Set(draft.models.split('\n').map((line) => line.trim()).filter((line) => line !== ''))]

export type ProviderField = 'id' | 'label' | 'baseUrl' | 'models'

/** What is wrong with a draft, by field. */
export function providerProblems(draft: ProviderDraft, others: readonly ProviderView[]): Partial<Record<ProviderField, string>> {
  const problems: Partial<Record<ProviderField, string>> = {}
  const id = draft.before?.id ?? draft.id
  if (draft.label.trim() === '') problems.label = t.providers.needLabel
  if (!/^[a-z0-9][a-z0-9-]*$/.test(id)) problems.id = t.providers.badId
  else if (draft.before === null && others.some((view) => view.provider.id === id)) problems.id = t.providers.takenId
  if (!isHttpUrl(draft.baseUrl)) problems.baseUrl = t.providers.badUrl
  if (modelIds(draft).length === 0) problems.models = t.providers.needModel
  return problems
}

/** The provider that a draft describes. Models that stay keep their label, limits and price. */
export function providerOf(draft: ProviderDraft): Provider {
  const keyEnv = draft.keyEnv.trim()
  return {
    id: draft.before?.id ?? draft.id, label: draft.label.trim(), baseUrl: draft.baseUrl.trim(), api: draft.api,
    models: modelIds(draft).map((id) => draft.before?.models.find((model) => model.id === id) ?? { id }), ...(keyEnv === '' ? {} : { keyEnv }),
  }
}

function isHttpUrl(text: string): boolean {
  try {
    const url = new URL(text.trim())
    return url.protocol === 'https:' || url.protocol === 'http:'
  } catch {
    return false
  }
}
