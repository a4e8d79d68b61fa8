import { formatEuros, wholeCents, type Cents } from './money.ts'

const flatRate: Cents = 4_90

/** What shipping costs for an order of this value. Throws a RangeError if the value is not whole cents. */
export function shippingCost(orderValue: Cents): Cents {
  wholeCents(orderValue)
  return flatRate
}

/** The line that the checkout shows about shipping. */
export function shippingNote(orderValue: Cents): string {
  return `Shipping costs ${formatEuros(shippingCost(orderValue))}.`
}
