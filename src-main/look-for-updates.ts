import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from './adapters/system/clock.ts'
import { flat } from './adapters/system/log-facts.ts'
import { createTimers } from './adapters/system/timers.ts'
import type { ComposeOptions, Parts } from './compose.ts'
import { waitingHolds } from './core/task/model.ts'
import { Updates } from './engine/updates.ts'
import { openUpdateSource } from './shell/update-source.ts'

/** The updates of this build, by its settings. Loaded when the room has been drawn. */
export async function openUpdates(parts: Parts, { isPackaged, appVersion }: ComposeOptions, onChange: () => void): Promise<Updates> {
  const { log, settings } = parts.ground
  // Written into the package by the release that made it.
  const hasAddress = isPackaged && existsSync(join(process.resourcesPath, 'app-update.yml'))
  return new Updates({
    source: await openUpdateSource(hasAddress), why: isPackaged ? 'This package comes from no release, so it knows of no place to look for newer ones.' : 'This app runs from its sources; update those.',
    version: appVersion, mode: () => settings.get().updates, busy: () => whyBusy(parts), onChange, clock: systemClock, timers: createTimers(systemClock),
    log: (level, event, facts) => { log[level](event, flat(facts)) },
  })
}

/** U3. In words that follow "The new version waits:". */
function whyBusy({ engine, journal }: Parts): string | null {
  if (engine.liveTasks().length > 0) return 'a task is running'
  if (engine.openTasks().some((state) => waitingHolds(state).length > 0)) return 'an approval waits for you'
  return journal.openEffects().length > 0 ? 'the journal has work under way' : null
}
