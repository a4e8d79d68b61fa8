import { failure } from '../../../src-preload/contract/failure.ts'
import { err } from '../../../src-preload/contract/result.ts'
import type { Clock, Sandbox } from '../../engine/ports.ts'

const reasons: Readonly<Record<string, { readonly message: string; readonly todo: string }>> = {
  win32: { message: 'On Windows coding tasks are blocked: Windows itself can end a tree of processes but keep none in, and what could (WSL 2 with this sandbox inside it and interop off) is not built.', todo: 'Run the app on Linux, for example in a virtual machine.' },
}
const otherwise = { message: 'On this system no sandbox is available, so coding tasks are blocked.', todo: 'Run the app on Linux.' } as const

/** The `Sandbox` of a system without one: nothing runs, and each answer says why. `platform` as in `process.platform`. */
export function unavailableSandbox(platform: string, clock: Clock): Sandbox {
  const { message, todo } = reasons[platform] ?? otherwise
  const why = failure('isolation-unavailable', message, todo)
  return {
    probe: () => Promise.resolve({ usable: false, level: 'none', summary: message, detail: todo, checkedAt: clock.now(), failure: why }),
    places: () => Promise.resolve(err(why)),
    launch: () => Promise.resolve(err(why)),
    run: () => Promise.resolve(err(why)),
    endOrphans: (recorded) => Promise.resolve({ at: clock.now(), method: 'never-started', checkedProcesses: 0, detail: `Nothing is ever started here; ${recorded.length} recorded.` }),
  }
}
