import { setTimeout as pause } from 'node:timers/promises'
import { median, type BenchRow } from './support/row.ts'
import { pressSampleButton, sampleButton, startUntilPainted } from './support/painted.ts'
import { openStage, type Stage } from './support/stage.ts'

/** One more comes before these and is not counted: it warms the page cache. */
const rounds = 9

async function usableMs(stage: Stage, executable: string, home: string): Promise<number> {
  const { app, afterMs } = await startUntilPainted(stage, sampleButton, { executable, home })
  await app.close()
  return afterMs
}

const servedWithinMs = 60_000

/** What counts as painted can be used: a press in that very moment begins the task. @throws when it does not within a minute */
async function pressAtOnce(stage: Stage): Promise<void> {
  const { app } = await startUntilPainted(stage, sampleButton, { executable: stage.app, home: stage.folder('pressed') }, pressSampleButton)
  try {
    const until = performance.now() + servedWithinMs
    while (await app.evaluate("document.querySelector('[data-task-id]') === null") === true) {
      if (performance.now() > until) throw new Error(`a press at the moment of painting began no task: ${String(await app.evaluate('document.body.innerText'))}`)
      await pause(20)
    }
  } finally {
    await app.close()
  }
}

/** Starts of both in turns: a busy minute of the machine meets both. */
async function inTurns(stage: Stage, homeOf: (executable: string) => string): Promise<{ readonly app: readonly number[]; readonly bare: readonly number[] }> {
  const app: number[] = []
  const bare: number[] = []
  for (let round = -1; round < rounds; round++) {
    const order = round % 2 === 0 ? [stage.app, stage.bare] : [stage.bare, stage.app]
    for (const executable of order) {
      const afterMs = await usableMs(stage, executable, homeOf(executable))
      if (round >= 0) (executable === stage.app ? app : bare).push(afterMs)
    }
  }
  return { app, bare }
}

/** From asking for the process to the painted, enabled button "Run the sample task", against a bare window with that button on the same runtime. */
export async function bench(): Promise<BenchRow[]> {
  const stage = await openStage()
  try {
    await pressAtOnce(stage)
    const first = await inTurns(stage, () => stage.folder('first'))
    const homes = new Map([[stage.app, stage.folder('again-app')], [stage.bare, stage.folder('again-bare')]])
    const again = await inTurns(stage, (executable) => homes.get(executable) ?? '')
    return [['first start of an account', first] as const, ['later start', again] as const].map(([which, { app, bare }]) => {
      const ratio = median(app) / median(bare)
      return { name: `cold start to usable window, ${which}`, value: median(app), unit: 'ms', reference: median(bare), ratio, gate: '≤ 1.3 × bare window', pass: ratio <= 1.3 }
    })
  } finally {
    await stage.close()
  }
}
