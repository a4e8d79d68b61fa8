import type { RaiseOffer } from '../../../src-preload/contract/task.ts'
import { asTyped, ungrouped } from '../../ui/format.ts'

const microUsdPerUsd = 1_000_000
const microUsdPerCent = 10_000

/** What of a typed amount cannot be used. */
export type BadAmount = 'no-number' | 'too-low' | 'too-high'

/** What is offered before the owner types anything: the host's suggestion, money rounded up to a whole cent. */
export function defaultAmount({ cap, max, suggested }: RaiseOffer): number {
  return cap === 'money' ? Math.min(max, Math.ceil(suggested / microUsdPerCent) * microUsdPerCent) : suggested
}

/** An amount as the owner types it: money in US dollars, everything else as a whole number. */
export function amountText({ cap }: Pick<RaiseOffer, 'cap'>, amount: number): string {
  return cap === 'money' ? asTyped((amount / microUsdPerUsd).toFixed(amount % microUsdPerCent === 0 ? 2 : 6)) : String(amount)
}

/** The typed amount in the offer's unit (money: micro-USD), or why it is none that the card offers. Thousands may be grouped as the language does it, or by spaces. */
export function amountFromText(offer: RaiseOffer, text: string): number | BadAmount {
  const typed = ungrouped(text.trim().replace(/^\$\s*|\s*\$$/g, ''))
  if (!(offer.cap === 'money' ? /^\d{1,9}(\.\d{0,6})?$/ : /^\d{1,12}$/).test(typed)) return 'no-number'
  const amount = offer.cap === 'money' ? Math.round(Number(typed) * microUsdPerUsd) : Number(typed)
  return amount < offer.min ? 'too-low' : amount > offer.max ? 'too-high' : amount
}
