import type { ReactNode } from 'react'
import type { HoldRow } from '../../../src-preload/contract/rows.ts'
import type { RaiseOffer } from '../../../src-preload/contract/task.ts'
import { t } from '../../i18n/text.ts'
import { TextField } from '../../ui/fields.tsx'
import { exactMoney } from '../../ui/format.ts'
import { useDesk, useDeskState } from './desk.ts'
import { amountText, type BadAmount } from './raise-amount.ts'

/** To what the owner raises the cap. What is typed is kept at the desk, where the chord finds it too. */
export function RaiseField({ row, offer, isDisabled }: { readonly row: HoldRow; readonly offer: RaiseOffer; readonly isDisabled: boolean }): ReactNode {
  const desk = useDesk()
  const { typed } = useDeskState()
  const amount = desk.amountOf(row)
  return (
    <div className="raise-field">
      <TextField
        label={t.approvals.raise.label[offer.cap]}
        hint={t.approvals.raise.hint({ now: inWords(offer, offer.from), min: inWords(offer, offer.min), max: inWords(offer, offer.max) })}
        value={typed?.approvalId === row.approvalId ? typed.text : amountText(offer, typeof amount === 'number' ? amount : offer.suggested)}
        onChange={(text) => { desk.typed(row.approvalId, text) }}
        error={typeof amount === 'string' ? errorOf(offer, amount) : undefined}
        isDisabled={isDisabled}
        inputMode={offer.cap === 'money' ? 'decimal' : 'numeric'}
        maxLength={20}
        mono
      />
    </div>
  )
}

/** What approving does, with the amount in it; the plain word while the amount cannot be used. */
export function approveLabel(offer: RaiseOffer, amount: number | BadAmount | null): string {
  return typeof amount === 'number' ? t.approvals.raise.approve({ amount: inWords(offer, amount) }) : t.approvals.approve
}

function errorOf(offer: RaiseOffer, bad: BadAmount): string {
  if (bad === 'no-number') return t.approvals.raise.noNumber[offer.cap === 'money' ? 'money' : 'whole']
  return bad === 'too-low' ? t.approvals.raise.tooLow({ min: inWords(offer, offer.min) }) : t.approvals.raise.tooHigh({ max: inWords(offer, offer.max) })
}

function inWords(offer: Pick<RaiseOffer, 'cap'>, amount: number): string {
  return offer.cap === 'money' ? exactMoney(amount) : t.approvals.raise.amount[offer.cap]({ n: amount })
}
