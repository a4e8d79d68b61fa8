import type { ReactNode } from 'react'
import { t } from '../../i18n/text.ts'
import { Choice, Select, TextField } from '../../ui/fields.tsx'
import { fieldsOf, type ExchangeDraft, type ExchangeProblems } from './exchange-draft.ts'

const kinds = ['as-it-is', 'bearer', 'client-credentials', 'token-exchange'] as const

/** Whether the stored key goes to the provider itself or buys a short-lived token first, and where. */
export function ExchangeFields({ draft, problems, onChange }: { readonly draft: ExchangeDraft; readonly problems: ExchangeProblems; readonly onChange: (change: Partial<ExchangeDraft>) => void }): ReactNode {
  return (
    <fieldset className="prices" data-exchange={draft.how}>
      <legend className="field-label">{t.exchange.title}</legend>
      <Select label={t.exchange.how} hint={t.exchange.hints[draft.how]} value={draft.how} onChange={(id) => { const how = kinds.find((kind) => kind === id); if (how !== undefined) onChange({ how }) }} groups={[{ label: t.exchange.title, options: kinds.map((id) => ({ id, label: t.exchange.kinds[id] })) }]} />
      {draft.how === 'as-it-is' ? null : (
        <>
          <TextField label={t.exchange.url} hint={t.exchange.urlHint} value={draft.url} onChange={(url) => { onChange({ url }) }} error={problems.url} mono placeholder="https://auth.example.com/token" maxLength={2_000} />
          {draft.how === 'bearer' ? <Choice label={t.exchange.method} value={draft.method} onChange={(method) => { onChange({ method }) }} options={[{ id: 'POST', label: 'POST', hint: t.exchange.postHint }, { id: 'GET', label: 'GET', hint: t.exchange.getHint }]} /> : null}
          <div className="field-pair">
            {fieldsOf(draft).map((name) => (
              <TextField key={name} label={t.exchange.fields[name]} value={draft[name]} onChange={(value) => { onChange({ [name]: value }) }} error={name === 'clientId' ? problems.clientId : undefined} mono maxLength={500} />
            ))}
            <TextField label={t.exchange.life} hint={t.exchange.lifeHint} value={draft.life} onChange={(life) => { onChange({ life }) }} error={problems.life} mono placeholder="300" maxLength={5} />
          </div>
        </>
      )}
    </fieldset>
  )
}
