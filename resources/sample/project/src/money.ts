/** An amount of money in whole cents. Never a fraction: 4.90 € is 490. */
export type Cents = number

/** Returns the amount if it is a whole number of cents from 0 upwards; throws a RangeError if not. */
export function wholeCents(amount: number): Cents {
  if (!Number.isSafeInteger(amount) || amount < 0) {
    throw new RangeError(`expected whole cents from 0 upwards, got ${amount}`)
  }
  return amount
}

/** Writes an amount as on a receipt: 123450 becomes "1,234.50 €". */
export function formatEuros(amount: Cents): string {
  const cents = wholeCents(amount)
  const euros = Math.floor(cents / 100).toString().replace(/\B(?=(\d{3})+$)/g, ',')
  return `${euros}.${(cents % 100).toString().padStart(2, '0')} €`
}
