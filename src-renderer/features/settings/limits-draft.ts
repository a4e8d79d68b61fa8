import { sandboxLimitBounds } from '../../../src-preload/contract/limits.ts'
import type { SandboxLimits } from '../../../src-preload/contract/task.ts'
import { t } from '../../i18n/text.ts'

/** A sandbox's limits as they are typed: memory and files in MiB, processor time in minutes. */
export type LimitsDraft = Readonly<Record<keyof SandboxLimits, string>>

/** What one of a limit's unit is: bytes, processes, ms. */
const units: Readonly<Record<keyof SandboxLimits, number>> = { memoryBytesMax: 1024 ** 2, processesMax: 1, commandCpuMsMax: 60_000, fileBytesMax: 1024 ** 2 }
export const limitNames = ['memoryBytesMax', 'processesMax', 'commandCpuMsMax', 'fileBytesMax'] as const

const each = <T>(make: (name: keyof SandboxLimits) => T): Readonly<Record<keyof SandboxLimits, T>> => ({ memoryBytesMax: make('memoryBytesMax'), processesMax: make('processesMax'), commandCpuMsMax: make('commandCpuMsMax'), fileBytesMax: make('fileBytesMax') })

export const limitsDraft = (limits: SandboxLimits): LimitsDraft => each((name) => String(limits[name] / units[name]))

/** Between what a limit can be set on this machine, in its unit, both ends included. Memory: at most what the machine has. */
export function limitRange(name: keyof SandboxLimits, machineBytes: number): { readonly min: number; readonly max: number } {
  const { min, max } = sandboxLimitBounds[name]
  return { min: min / units[name], max: Math.floor((name === 'memoryBytesMax' ? Math.max(min, Math.min(max, machineBytes)) : max) / units[name]) }
}

/** Digits alone: a point or comma means a thousand to some and a part to others. */
const amount = (text: string): number => (/^\d{1,9}$/.test(text.trim()) ? Number(text.trim()) : Number.NaN)

/** What is wrong with a draft, by field. A limit that is as it was is never wrong. */
export function limitProblems(draft: LimitsDraft, now: SandboxLimits, machineBytes: number): Partial<Record<keyof SandboxLimits, string>> {
  const before = limitsDraft(now)
  return Object.fromEntries(limitNames.flatMap((name) => {
    const { min, max } = limitRange(name, machineBytes)
    const typed = amount(draft[name])
    return draft[name].trim() === before[name] || (typed >= min && typed <= max) ? [] : [[name, t.isolation.own[name].wrong({ min: String(min), max: String(max) })]]
  }))
}

/** The limits that a draft without problems describes. */
export const limitsOf = (draft: LimitsDraft): SandboxLimits => each((name) => amount(draft[name]) * units[name])
