import { setImmediate as turn } from 'node:timers/promises'

/** A window that waits for a file or an answer does not notice a pause of this length. */
const workMs = 12

/** For long work between whose steps others may run: gives the loop a turn, once there was work for about 12 ms without one. */
export function createBreath(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < workMs) return
    await turn()
    since = performance.now()
  }
}
