import type { ReactNode } from 'react'
import { t } from '../../i18n/text.ts'
import { TextField } from '../../ui/fields.tsx'
import { modelIds, type ProviderDraft } from './provider-draft.ts'

/** What each model costs, as the owner read it on the provider's page. Empty: not known, and a task with a money cap does not use it. */
export function PriceFields({ draft, problems, onChange }: { readonly draft: ProviderDraft; readonly problems: Readonly<Record<string, string>>; readonly onChange: (prices: ProviderDraft['prices']) => void }): ReactNode {
  const ids = modelIds(draft)
  if (ids.length === 0) return null
  const set = (id: string, change: Partial<ProviderDraft['prices'][string]>): void => {
    onChange({ ...draft.prices, [id]: { input: '', output: '', asOf: '', ...draft.prices[id], ...change } })
  }
  return (
    <fieldset className="prices">
      <legend className="field-label">{t.providers.prices}</legend>
      <p className="field-hint">{t.providers.pricesHint}</p>
      {ids.map((id) => (
        <fieldset key={id} className="price-row">
          <legend className="mono small clip">{id}</legend>
          <TextField label={t.providers.priceInput} value={draft.prices[id]?.input ?? ''} onChange={(input) => { set(id, { input }) }} error={problems[id]} mono placeholder="3.00" />
          <TextField label={t.providers.priceOutput} value={draft.prices[id]?.output ?? ''} onChange={(output) => { set(id, { output }) }} mono placeholder="15.00" />
          <TextField label={t.providers.priceDay} value={draft.prices[id]?.asOf ?? ''} onChange={(asOf) => { set(id, { asOf }) }} mono placeholder={t.providers.priceToday} maxLength={10} />
        </fieldset>
      ))}
    </fieldset>
  )
}
