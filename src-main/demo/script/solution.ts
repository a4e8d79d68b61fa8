/** The sample task solved: what the demo coder writes into src/shipping.ts. It passes the visible tests, the style check and the held criteria tests of resources/sample. */
export const solvedShipping = `import { formatEuros, wholeCents, type Cents } from './money.ts'

/** One step of the price list: from this order value on, shipping costs this much. */
export interface Step {
  readonly from: Cents
  readonly cost: Cents
}

/**
 * The price list, cheapest orders first.
 *
 * A step begins exactly at its \`from\`: a customer who reaches a threshold gets the better price, so an
 * order of exactly 50.00 € already ships for 1.90 €.
 *
 * The list starts at 0, rises in \`from\` and falls in \`cost\`; \`checkSteps\` below holds it to that, so that a
 * later change of prices cannot leave a gap or make a larger order dearer.
 */
export const steps: readonly Step[] = checkSteps([
  { from: 0, cost: 6_90 },
  { from: 20_00, cost: 4_90 },
  { from: 50_00, cost: 1_90 },
  { from: 100_00, cost: 0 },
])

/** What shipping costs for an order of this value. Throws a RangeError if the value is not whole cents. */
export function shippingCost(orderValue: Cents): Cents {
  return stepOf(orderValue).cost
}

/** The next better price and what is missing to it, or null when shipping is free already. */
export function nextStep(orderValue: Cents): { readonly missing: Cents; readonly cost: Cents } | null {
  wholeCents(orderValue)
  const next = steps.find((step) => step.from > orderValue)
  return next === undefined ? null : { missing: next.from - orderValue, cost: next.cost }
}

/**
 * The line that the checkout shows about shipping.
 *
 *   35.00 €  →  Shipping costs 4.90 €. Add 15.00 € to ship for 1.90 €.
 *   88.00 €  →  Shipping costs 1.90 €. Add 12.00 € to ship for free.
 *  120.00 €  →  Shipping is free.
 */
export function shippingNote(orderValue: Cents): string {
  const cost = shippingCost(orderValue)
  const now = cost === 0 ? 'Shipping is free.' : \`Shipping costs \${formatEuros(cost)}.\`
  const next = nextStep(orderValue)
  if (next === null) return now
  const price = next.cost === 0 ? 'for free' : \`for \${formatEuros(next.cost)}\`
  return \`\${now} Add \${formatEuros(next.missing)} to ship \${price}.\`
}

/** The last step that the order has reached. */
function stepOf(orderValue: Cents): Step {
  const value = wholeCents(orderValue)
  const reached = steps.findLast((step) => step.from <= value)
  if (reached === undefined) throw new RangeError(\`no price for an order of \${formatEuros(value)}\`)
  return reached
}

/** Returns the list if it is fair; throws if it has a gap at the bottom or a larger order would pay more. */
function checkSteps(list: readonly Step[]): readonly Step[] {
  if (list[0]?.from !== 0) throw new Error('the price list must start at 0')
  list.forEach((step, index) => {
    const before = list[index - 1]
    wholeCents(step.cost)
    if (before === undefined) return
    if (step.from <= before.from) throw new Error('thresholds must rise')
    if (step.cost >= before.cost) throw new Error('prices must fall')
  })
  return list
}
`

/** Where it goes, relative to the workspace. */
export const solvedShippingPath = 'src/shipping.ts'
