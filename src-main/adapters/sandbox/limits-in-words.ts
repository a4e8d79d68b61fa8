import type { SandboxLimits } from '../../../src-preload/contract/task.ts'

const mib = 2 ** 20
const gib = 2 ** 30

/** An amount that is whole MiB, exactly: in GiB where it is whole GiB. */
export const bytesInWords = (amount: number): string => (amount % gib === 0 ? `${String(amount / gib)} GiB` : `${String(Math.round(amount / mib))} MiB`)

/** Processor time, exactly: in minutes where it is whole minutes. */
export const processorTimeInWords = (ms: number): string => (ms % 60_000 === 0 ? `${String(ms / 60_000)} ${ms === 60_000 ? 'minute' : 'minutes'}` : `${String(ms / 1_000)} s`)

/** The limits that matter to a reader of a card, as a part of a sentence; Settings → Isolation lists all. */
export function limitsInWords({ memoryBytesMax, processesMax, commandCpuMsMax, fileBytesMax }: SandboxLimits): string {
  return `${bytesInWords(memoryBytesMax)} of memory, ${String(processesMax)} processes, ${String(commandCpuMsMax / 60_000)} min of processor time, ${bytesInWords(fileBytesMax)} a file`
}
