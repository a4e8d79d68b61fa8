import { setTimeout as pause } from 'node:timers/promises'
import { proportionalMib, shareOf } from './support/process-tree.ts'
import { median, type BenchRow } from './support/row.ts'
import { sampleButton, startUntilPainted } from './support/painted.ts'
import { openStage, type Stage } from './support/stage.ts'

const rounds = 3
/** Until then both have tidied up what starting left behind. */
const atRestAfterMs = 40_000

async function restingMib(stage: Stage, executable: string): Promise<number> {
  const { app } = await startUntilPainted(stage, sampleButton, { executable, home: stage.folder('rest') })
  try {
    await pause(atRestAfterMs)
    const members = app.members()
    console.error(`${executable === stage.app ? 'app' : 'bare window'}: ${members.map(shareOf).map(({ what, mib }) => `${what} ${mib.toFixed(0)}`).join(', ')}`)
    return proportionalMib(members)
  } finally {
    await app.close()
  }
}

/** Memory of the whole process tree at rest (proportional set size; no OpenCode runs then), against a bare window with one button on the same runtime. */
export async function bench(): Promise<BenchRow[]> {
  const stage = await openStage()
  try {
    const app: number[] = []
    const bare: number[] = []
    for (let round = 0; round < rounds; round++) {
      app.push(await restingMib(stage, stage.app))
      bare.push(await restingMib(stage, stage.bare))
    }
    const ratio = median(app) / median(bare)
    return [{ name: 'memory at rest, whole tree (PSS)', value: median(app), unit: 'MiB', reference: median(bare), ratio, gate: '≤ 1.25 × bare window', pass: ratio <= 1.25 }]
  } finally {
    await stage.close()
  }
}
