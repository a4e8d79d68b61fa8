import { useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { ProviderView } from '../../../src-preload/contract/settings.ts'
import { t } from '../../i18n/text.ts'
import { useAct } from '../../store/queries.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Choice, TextField } from '../../ui/fields.tsx'
import { say } from '../../ui/toasts.tsx'
import { exchangeProblems } from './exchange-draft.ts'
import { ExchangeFields } from './exchange-fields.tsx'
import { PriceFields } from './price-fields.tsx'
import { idFrom, priceProblems, providerDraft, providerOf, providerProblems } from './provider-draft.ts'

/** Adds a provider, or edits one. A key goes straight to main and is never shown again. */
export function ProviderDialog({ view, others, keyring, onClose }: { readonly view: ProviderView | null; readonly others: readonly ProviderView[]; readonly keyring: boolean; readonly onClose: () => void }): ReactNode {
  const queries = useQueryClient()
  const [draft, setDraft] = useState(() => providerDraft(view?.provider ?? null))
  const [ownId, setOwnId] = useState(view !== null)
  const [tried, setTried] = useState(false)
  const problems = providerProblems(draft, others)
  const shown = tried ? problems : {}
  const prices = priceProblems(draft)
  const exchange = exchangeProblems(draft.exchange)
  const put = useAct('provider.put', ({ key }) => {
    void queries.invalidateQueries()
    say({ tone: 'good', text: t.providers.saved({ label: draft.label }), detail: t.providers.keySaved[key] })
    onClose()
  })
  const change = (part: Partial<typeof draft>): void => {
    setDraft((now) => ({ ...now, ...part }))
  }
  return (
    <FormDialog
      title={view === null ? t.providers.add : t.providers.editTitle({ label: view.provider.label })} submit={t.word.save} wide act={put} onClose={onClose}
      onSubmit={() => {
        setTried(true)
        if (Object.keys({ ...problems, ...exchange }).length + Object.keys(prices).length === 0) put.mutate({ provider: providerOf(draft, new Date().toISOString().slice(0, 10)), key: draft.key === '' ? null : draft.key })
      }}
    >
      <div className="field-pair">
        <TextField label={t.providers.label} value={draft.label} onChange={(label) => { change(ownId ? { label } : { label, id: idFrom(label) }) }} error={shown.label} maxLength={100} autoFocus />
        <TextField label={t.providers.id} hint={t.providers.idHint} value={draft.id} onChange={(id) => { setOwnId(true); change({ id }) }} error={shown.id} mono isDisabled={view !== null} maxLength={64} />
      </div>
      <TextField label={t.providers.baseUrl} hint={t.providers.baseUrlHint} value={draft.baseUrl} onChange={(baseUrl) => { change({ baseUrl }) }} error={shown.baseUrl} mono placeholder="https://api.example.com/v1" />
      <Choice
        label={t.providers.api}
        value={draft.api}
        onChange={(api) => { change({ api }) }}
        options={[
          { id: 'chat', label: t.providers.apis.chat, hint: '/chat/completions' },
          { id: 'responses', label: t.providers.apis.responses, hint: '/responses' },
        ]}
      />
      <TextField label={t.providers.models} hint={t.providers.modelsHint} value={draft.models} onChange={(models) => { change({ models }) }} error={shown.models} lines={3} mono />
      <PriceFields draft={draft} problems={tried ? prices : {}} onChange={(next) => { change({ prices: next }) }} />
      <TextField label={t.providers.key} hint={view === null || view.key === 'missing' ? (keyring ? t.providers.keyHint : t.providers.keySessionHint) : t.providers.keyKeepHint} value={draft.key} onChange={(key) => { change({ key }) }} type="password" mono />
      <TextField label={t.providers.keyEnv} hint={t.providers.keyEnvHint} value={draft.keyEnv} onChange={(keyEnv) => { change({ keyEnv }) }} mono maxLength={200} placeholder="EXAMPLE_API_KEY" />
      <ExchangeFields draft={draft.exchange} problems={tried ? exchange : {}} onChange={(next) => { change({ exchange: { ...draft.exchange, ...next } }) }} />
    </FormDialog>
  )
}
