import { failure } from '../../../src-preload/contract/failure.ts'
import { err } from '../../../src-preload/contract/result.ts'
import type { Clock, Sandbox } from '../../engine/ports.ts'

const reasons: Readonly<Record<string, { readonly level: 'seatbelt-untested' | 'none'; readonly message: string; readonly todo: string }>> = {
  darwin: { level: 'seatbelt-untested', message: 'On macOS no sandbox is ready: a seatbelt profile is written, but it is untested and nothing starts it. So coding tasks are blocked.', todo: 'Run the app on Linux, for example in a virtual machine.' },
  win32: { level: 'none', message: 'On Windows no sandbox is ready: a way by WSL 2 is sketched, but it is untested and nothing starts it. So coding tasks are blocked.', todo: 'Run the app on Linux, for example in a virtual machine.' },
}
const otherwise = { level: 'none', message: 'On this system no sandbox is available, so coding tasks are blocked.', todo: 'Run the app on Linux.' } as const

/** The `Sandbox` of a system without one: nothing runs, and each answer says why. `platform` as in `process.platform`. */
export function unavailableSandbox(platform: string, clock: Clock): Sandbox {
  const { level, message, todo } = reasons[platform] ?? otherwise
  const why = failure('isolation-unavailable', message, todo)
  return {
    probe: () => Promise.resolve({ usable: false, level, summary: message, detail: todo, checkedAt: clock.now(), failure: why }),
    launch: () => Promise.resolve(err(why)),
    run: () => Promise.resolve(err(why)),
    endOrphans: (recorded) => Promise.resolve({ at: clock.now(), method: 'never-started', checkedProcesses: 0, detail: `Nothing is ever started here; ${recorded.length} recorded.` }),
  }
}
