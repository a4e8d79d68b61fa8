import type { ReactNode } from 'react'
import { longBudget, pilotBudget } from '../../../src-preload/contract/budgets.ts'
import { budgetMaxima } from '../../../src-preload/contract/limits.ts'
import type { BudgetLimits } from '../../../src-preload/contract/task.ts'
import { t } from '../../i18n/text.ts'
import { useOpen } from '../../store/ui-store.ts'
import { NumberField, Segments, TextField } from '../../ui/fields.tsx'
import { FoldButton } from '../../ui/pieces.tsx'
import { moneyFromText, moneyText, profileOf } from './budgets.ts'

const minuteMs = 60_000

/** Caps of a task: a profile, and each cap by itself for whoever wants to see them. */
export function BudgetFields({ value, onChange, foldKey, moneyError }: { readonly value: BudgetLimits; readonly onChange: (value: BudgetLimits) => void; readonly foldKey: string; readonly moneyError?: string | undefined }): ReactNode {
  const [open, setOpen] = useOpen(foldKey, false)
  const own = (change: Partial<BudgetLimits>): void => {
    onChange({ ...value, ...change, profile: 'custom' })
  }
  return (
    <div className="stack">
      <div className="line">
        <Segments
          label={t.budget.profile}
          value={profileOf(value)}
          onChange={(profile) => {
            if (profile === 'custom') setOpen(true)
            onChange(profile === 'pilot' ? pilotBudget : profile === 'long' ? longBudget : { ...value, profile: 'custom' })
          }}
          options={[
            { id: 'pilot', label: t.budget.pilot },
            { id: 'long', label: t.budget.long },
            { id: 'custom', label: t.budget.custom },
          ]}
        />
        <FoldButton open={open} onToggle={setOpen}>
          {t.budget.caps}
        </FoldButton>
      </div>
      <p className="field-hint">{t.budget.summary({ turns: value.turnsMax, requests: value.requestsMax, tokens: value.tokensMax, minutes: Math.round(value.deadlineMs / minuteMs) })}</p>
      {open ? (
        <div className="field-grid">
          <NumberField label={t.budget.turns} value={value.turnsMax} onChange={(turnsMax) => { own({ turnsMax }) }} min={1} max={budgetMaxima.turnsMax} />
          <NumberField label={t.budget.messages} value={value.messagesMax} onChange={(messagesMax) => { own({ messagesMax }) }} min={1} max={budgetMaxima.messagesMax} />
          <NumberField label={t.budget.requests} value={value.requestsMax} onChange={(requestsMax) => { own({ requestsMax }) }} min={1} max={budgetMaxima.requestsMax} />
          <NumberField label={t.budget.tokens} value={value.tokensMax} onChange={(tokensMax) => { own({ tokensMax }) }} min={1} max={budgetMaxima.tokensMax} step={1} />
          <NumberField label={t.budget.deadline} value={Math.round(value.deadlineMs / minuteMs)} onChange={(minutes) => { own({ deadlineMs: minutes * minuteMs }) }} min={1} max={24 * 60} />
          <MoneyField value={value.moneyMicroUsdMax} onChange={(moneyMicroUsdMax) => { own({ moneyMicroUsdMax }) }} error={moneyError} />
        </div>
      ) : null}
    </div>
  )
}

function MoneyField({ value, onChange, error }: { readonly value: number | null; readonly onChange: (value: number | null) => void; readonly error: string | undefined }): ReactNode {
  return (
    <TextField
      key={value === null ? 'none' : 'some'}
      label={t.budget.money}
      hint={t.budget.moneyHint}
      placeholder={t.budget.moneyNone}
      value={moneyText(value)}
      error={error}
      onChange={(text) => {
        const next = moneyFromText(text)
        if (next !== undefined) onChange(next)
      }}
    />
  )
}
