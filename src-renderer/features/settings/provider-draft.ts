import type { Provider, ProviderView } from '../../../src-preload/contract/settings.ts'
import { t } from '../../i18n/text.ts'
import { asTyped } from '../../ui/format.ts'
import { exchangeDraft, exchangeOf, type ExchangeDraft } from './exchange-draft.ts'
import { isHttpUrl } from './http-url.ts'

/** A provider that is being added or edited. `models`: one id a line. `key` empty: leave the stored one as it is. */
export interface ProviderDraft {
  readonly id: string
  readonly label: string
  readonly baseUrl: string
  readonly api: 'chat' | 'responses'
  readonly models: string
  readonly key: string
  readonly keyEnv: string
  readonly exchange: ExchangeDraft
  /** By model id: US dollars per million tokens, as typed, and the day they were read; no amounts: not known. */
  readonly prices: Readonly<Record<string, TypedPrice>>
  /** What the form does not show and must not lose: labels and limits of models. */
  readonly before: Provider | null
}

export interface TypedPrice { readonly input: string; readonly output: string; readonly asOf: string }

/** The form for a provider; null: for a new one. */
export function providerDraft(provider: Provider | null): ProviderDraft {
  return { id: provider?.id ?? '', label: provider?.label ?? '', baseUrl: provider?.baseUrl ?? '', api: provider?.api ?? 'chat', models: provider?.models.map((model) => model.id).join('\n') ?? '', key: '', keyEnv: provider?.keyEnv ?? '', exchange: exchangeDraft(provider?.exchange), prices: pricesOf(provider), before: provider }
}

function pricesOf(provider: Provider | null): ProviderDraft['prices'] {
  const dollars = (microUsd: number): string => asTyped((microUsd / 1e6).toString())
  return Object.fromEntries((provider?.models ?? []).flatMap(({ id, price }) => (price === undefined ? [] : [[id, { input: dollars(price.inputMicroUsd), output: dollars(price.outputMicroUsd), asOf: price.asOf }]])))
}

/** An id made of a label: lower-case letters, digits and hyphens. */
export function idFrom(label: string): string {
  return label.toLowerCase().normalize('NFKD').replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 64)
}

/** The models that a draft names, each once. */
export const modelIds = (draft: ProviderDraft): readonly string[] => [...new Set(draft.models.split('\n').map((line) => line.trim()).filter((line) => line !== ''))]

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

/** What is wrong with the prices, by model id. */
export function priceProblems(draft: ProviderDraft): Readonly<Record<string, string>> {
  return Object.fromEntries(modelIds(draft).filter((id) => typedPrice(draft, id) === null).map((id) => [id, t.providers.badPrice]))
}

/** A price as typed: undefined where there is none, null where it is no price. */
function typedPrice(draft: ProviderDraft, id: string): NonNullable<Provider['models'][number]['price']> | undefined | null {
  const typed = [draft.prices[id]?.input.trim() ?? '', draft.prices[id]?.output.trim() ?? '']
  if (typed.every((text) => text === '')) return undefined
  const [input, output] = typed.map((text) => (/^\d{1,6}([.,]\d{1,6})?$/.test(text) ? Math.round(Number(text.replace(',', '.')) * 1e6) : null))
  const asOf = draft.prices[id]?.asOf.trim() ?? ''
  if (input == null || output == null || !(asOf === '' || isDay(asOf))) return null
  return { inputMicroUsd: input, outputMicroUsd: output, asOf }
}

/** A day that the calendar has, as YYYY-MM-DD. */
function isDay(text: string): boolean {
  const start = new Date(`${text}T00:00:00Z`)
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(start.getTime()) && start.toISOString().startsWith(text)
}

/** A model with the price that is typed now. A changed price whose day was left as it was is one of today. */
function modelOf(draft: ProviderDraft, id: string, today: string): Provider['models'][number] {
  const { price: before, ...model } = draft.before?.models.find((one) => one.id === id) ?? { id, price: undefined }
  const typed = typedPrice(draft, id)
  if (typed == null) return model
  const same = before?.inputMicroUsd === typed.inputMicroUsd && before.outputMicroUsd === typed.outputMicroUsd
  return { ...model, price: { ...typed, asOf: typed.asOf === '' || (!same && typed.asOf === before?.asOf) ? today : typed.asOf } }
}

/** The provider that a draft describes. Models that stay keep their label and limits. `today`: YYYY-MM-DD, the day of a changed price. */
export function providerOf(draft: ProviderDraft, today: string): Provider {
  const keyEnv = draft.keyEnv.trim()
  const exchange = exchangeOf(draft.exchange)
  return {
    id: draft.before?.id ?? draft.id, label: draft.label.trim(), baseUrl: draft.baseUrl.trim(), api: draft.api,
    models: modelIds(draft).map((id) => modelOf(draft, id, today)), ...(keyEnv === '' ? {} : { keyEnv }), ...(exchange === undefined ? {} : { exchange }),
  }
}
