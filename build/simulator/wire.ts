import type { Random } from '../harness/random.ts'
import type { Troubles } from './tally.ts'

/** The way from bots and proxy to the host: what is sent may be lost, come twice, or after what was sent later. */
export interface Wire {
  send(deliver: () => void): void
  /** What was held back arrives, in any order. */
  deliverLate(): void
  /** What was held back never arrives: who carried it is dead. */
  loseLate(): void
}

/** `calm`: from then on everything arrives at once. */
export function openWire(random: Random, calm: () => boolean, troubles: Troubles): Wire {
  let late: (() => void)[] = []
  return {
    send: (deliver) => {
      if (calm()) { deliver(); return }
      const fate = random.below(100)
      if (fate < 3) { troubles.lost += 1; return }
      if (fate < 10) { troubles.late += 1; late.push(deliver); return }
      deliver()
      if (fate < 16) { troubles.doubled += 1; deliver() }
    },
    deliverLate: () => {
      const arriving = random.shuffle(late)
      late = []
      for (const deliver of arriving) deliver()
    },
    loseLate: () => {
      troubles.lost += late.length
      late = []
    },
  }
}
