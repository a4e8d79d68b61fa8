import { homedir } from 'node:os'
import { join } from 'node:path'
import { failure, type Failure } from '../src-preload/contract/failure.ts'
import type { AppInfo } from '../src-preload/contract/methods.ts'
import type { Digest } from '../src-preload/contract/ids.ts'
import { err, ok, type Result } from '../src-preload/contract/result.ts'
import { systemClock } from './adapters/system/clock.ts'
import { lastLogLines } from './adapters/system/log-tail.ts'
import { textFiles } from './adapters/system/text-files.ts'
import type { Ground, Parts } from './compose.ts'
import { diagnosticsText, type JournalHealth } from './core/diagnostics/bundle.ts'
import { digestOfText } from './core/digest.ts'
import { waitingHolds } from './core/task/model.ts'
import { refusalOf } from './engine/refusal.ts'

const logLinesMax = 200

/** Diagnostics that the owner reads before they are saved. G3. What is saved is byte for byte what was shown last. */
export interface Diagnostics {
  preview(): Promise<{ readonly text: string; readonly digest: Digest }>
  /** The text that was shown under this digest; null: another one was shown since, or none. */
  shown(digest: Digest): string | null
}

/** `parts` null: there is no journal to tell of. */
export function createDiagnostics(ground: Ground, parts: Parts | null, info: () => Promise<AppInfo>): Diagnostics {
  let last: { readonly text: string; readonly digest: Digest } | null = null
  return {
    preview: async () => {
      await ground.log.flush()
      const [about, journal, log] = await Promise.all([info(), parts === null ? null : healthOf(parts), lastLogLines(join(ground.dataDir, 'logs'), 'countersign', logLinesMax)])
      const text = diagnosticsText({ at: systemClock.now(), info: about, settings: ground.settings.get(), providers: ground.providers.list(), journal, log }, { redact: ground.redact, home: homedir() })
      last = { text, digest: digestOfText(text) }
      return last
    },
    shown: (digest) => last?.digest === digest ? last.text : null,
  }
}

/** A journal that cannot be read is told as that: it is when diagnostics are wanted most. */
async function healthOf(parts: Parts): Promise<JournalHealth | { readonly failure: string }> {
  try {
    return await readHealth(parts)
  } catch (error) {
    const refused = refusalOf(error)
    if (refused === null) throw error
    return { failure: refused.code }
  }
}

async function readHealth({ journal, engine }: Parts): Promise<JournalHealth> {
  const { events, headHash, firstBadSeq } = await journal.verifyChain()
  const tasks = engine.tasks()
  const tasksByStatus: Record<string, number> = {}
  for (const { status } of tasks) tasksByStatus[status] = (tasksByStatus[status] ?? 0) + 1
  return { events, headHash, firstBadSeq, schemaVersion: journal.facts().schemaVersion, openEffects: journal.openEffects().length, tasksByStatus, waitingHolds: tasks.reduce((sum, state) => sum + waitingHolds(state).length, 0) }
}

/** Asks where with the system's dialog and writes what was shown there. */
export async function saveShown(diagnostics: Diagnostics, digest: Digest, saveAs: (name: string) => Promise<string | null>): Promise<Result<{ path: string | null }, Failure>> {
  const text = diagnostics.shown(digest)
  if (text === null) return err(failure('digest-mismatch', 'These diagnostics are not the ones that were shown last.', 'Make them anew, read them and save those.'))
  const path = await saveAs('countersign-diagnostics.json')
  if (path === null) return ok({ path })
  try {
    await textFiles.write(path, text)
    return ok({ path })
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    return err(failure(error.code === 'ENOSPC' || error.code === 'EDQUOT' ? 'disk-full' : 'unavailable', `The diagnostics could not be written (${String(error.code)}): ${path}`, 'Choose another place.'))
  }
}
