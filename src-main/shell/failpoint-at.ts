import { failpointNames, type Failing, type Failpoint } from '../engine/failpoints.ts'

/** Only in builds that tests steer; everything that hangs on it is left out of a release (electron.vite.config.ts). */
declare const __FAILPOINTS__: boolean

/**
 * The failpoint that `COUNTERSIGN_FAILPOINT=name@n` asks for: the app is killed, without a word, when it passes there for the n-th time (from 1).
 * Throws for a name that is none, so that no test waits for a crash that cannot come. In a release build there is nothing of this.
 */
export function failpointAt(env: NodeJS.ProcessEnv): Failing {
  if (!__FAILPOINTS__) return {}
  const asked = env['COUNTERSIGN_FAILPOINT']
  if (asked === undefined) return {}
  const [name = '', times = '1'] = asked.split('@')
  if (!failpointNames.includes(name as Failpoint) || !/^[1-9]\d*$/.test(times)) throw new Error(`no failpoint: ${asked}`)
  let left = Number(times)
  return {
    failpoint: (at) => {
      if (at === name && --left === 0) process.kill(process.pid, 'SIGKILL')
    },
  }
}
