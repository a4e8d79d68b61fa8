import { budgetMaxima } from '../../../src-preload/contract/limits.ts'
import type { BudgetLimits } from '../../../src-preload/contract/task.ts'
import { asTyped, ungrouped } from '../../ui/format.ts'

/** The profile under which the window shows a budget. */
export function profileOf({ profile }: Pick<BudgetLimits, 'profile'>): 'pilot' | 'long' | 'custom' {
  return profile === 'pilot' || profile === 'long' ? profile : 'custom'
}

/** A money cap as somebody would type it, in US dollars; empty for none. */
export function moneyText(microUsd: number | null): string {
  return microUsd === null ? '' : asTyped(String(microUsd / 1_000_000))
}

/** Micro-dollars of a typed sum; null for empty (no cap); undefined when it is no sum, or more than any budget may have. */
export function moneyFromText(text: string): number | null | undefined {
  const trimmed = ungrouped(text.trim().replace(/^\$\s*|\s*\$$/g, ''))
  if (trimmed === '') return null
  if (!/^\d{1,7}([.,]\d{0,6})?$/.test(trimmed)) return undefined
  const microUsd = Math.round(Number(trimmed.replace(',', '.')) * 1_000_000)
  return microUsd > budgetMaxima.moneyMicroUsdMax ? undefined : microUsd
}
