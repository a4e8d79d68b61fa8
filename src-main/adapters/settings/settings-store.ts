import type { z } from 'zod'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import { settingsSchema, type Settings } from '../../../src-preload/contract/settings.ts'
import type { SandboxLimits } from '../../../src-preload/contract/task.ts'
import { defaultSettings, demoProviderId } from './defaults.ts'

/** Reads and replaces small files whole. */
export interface SettingsFiles { read(path: string): Promise<string | null>; write(path: string, text: string): Promise<void>; setAside(path: string): Promise<string> }

export interface SettingsStore {
  get(): Settings
  /** Checks, writes, then uses. Failures: `invalid-input`, `settings-broken` (the file is of a newer app), `disk-full`, `unavailable`. */
  put(settings: Settings): Promise<Result<null, Failure>>
  /** What was wrong with the file at start; null when nothing was. */
  problem(): Failure | null
}

/** What a file of the format `from` becomes in the next one; the version is raised by whoever takes the step. @throws when it cannot be brought there */
export interface SettingsStep { readonly from: number; readonly up: (settings: Readonly<Record<string, unknown>>) => Record<string, unknown> }

/** All steps, ascending. A released one is never edited; a change that a default of the schema cannot bridge is a new one. There was none yet. */
const released: readonly SettingsStep[] = []

/**
 * Loads the settings, through the steps of later formats where the file is of an earlier one; the file itself changes with the first save. A file
 * that cannot be understood is renamed to `settings.broken-N.json` and the defaults are used; a file of a newer app, and one that a step fails on,
 * is left as it is, the defaults are used and nothing is saved over it. All are told by `problem`. `machineBytes`: the memory of
 * this machine, above which no sandbox's limit can be set. Only tests set `steps`.
 */
export async function openSettings(path: string, files: SettingsFiles, machineBytes: number, steps: readonly SettingsStep[] = released): Promise<SettingsStore> {
  const loaded = await load(path, files, steps)
  let current = loaded.settings
  let writes: Promise<unknown> = Promise.resolve()
  return {
    get: () => current,
    problem: () => loaded.problem,
    put: (settings) => {
      const turn = writes.then(async (): Promise<Result<null, Failure>> => {
        if (loaded.locked !== null) return err(loaded.locked)
        const checked = settingsSchema.safeParse(settings)
        if (!checked.success) return err(failure('invalid-input', `These settings are not valid: ${told(checked.error)}`, 'Correct the named field.'))
        const clash = providersClash(checked.data.providers)
        if (clash !== null) return err(failure('invalid-input', clash, 'Give each provider an id of its own.'))
        const tooMuch = limitsObjection(checked.data.sandboxLimits, current.sandboxLimits, machineBytes)
        if (tooMuch !== null) return err(tooMuch)
        const failed = await written(files, path, checked.data)
        if (failed !== null) return err(failed)
        current = checked.data
        return ok(null)
      })
      writes = turn
      return turn
    },
  }
}

interface Loaded { readonly settings: Settings; readonly problem: Failure | null; readonly locked: Failure | null }

async function load(path: string, files: SettingsFiles, steps: readonly SettingsStep[]): Promise<Loaded> {
  const text = await files.read(path)
  if (text === null) return { settings: defaultSettings, problem: null, locked: null }
  const parsed = parseJson(text)
  if (parsed.ok) {
    const brought = broughtUp(parsed.value, steps, path)
    if (!brought.ok) return { settings: defaultSettings, problem: brought.error, locked: brought.error }
    const checked = settingsSchema.safeParse(brought.value)
    const clash = checked.success ? providersClash(checked.data.providers) : null
    if (checked.success && clash === null) return { settings: checked.data, problem: null, locked: null }
    if ((versionOf(parsed.value) ?? 0) > defaultSettings.version) {
      const newer = failure('settings-broken', `The settings were written by a newer version of the app and were not touched: ${path}`, 'Defaults are used and changes are not saved. Install the newer version, or move the file away.')
      return { settings: defaultSettings, problem: newer, locked: newer }
    }
    return setAside(path, files, clash ?? (checked.success ? '' : told(checked.error)))
  }
  return setAside(path, files, parsed.error)
}

async function setAside(path: string, files: SettingsFiles, why: string): Promise<Loaded> {
  const aside = await files.setAside(path)
  return { settings: defaultSettings, problem: failure('settings-broken', `The settings could not be read (${why}). They were kept as ${aside}; defaults are used.`, 'Correct that file and put it back, or set up again in Settings.'), locked: null }
}

/** JSON of a file that a person may have edited; the error says where it breaks. */
export function parseJson(text: string): Result<unknown, string> {
  try {
    return ok(JSON.parse(text.replace(/^\uFEFF/, '')) as unknown)
  } catch (notJson) {
    if (notJson instanceof SyntaxError) return err(`no JSON: ${notJson.message.slice(0, 200)}`)
    throw notJson
  }
}

/** The first problems that a schema found, each with its place: `providers.0.baseUrl: Invalid URL`. */
export function told(error: z.ZodError): string {
  const shown = error.issues.slice(0, 5).map((issue) => `${issue.path.length === 0 ? 'the whole' : issue.path.map(String).join('.')}: ${issue.message}`)
  return [...shown, ...(error.issues.length > 5 ? [`and ${error.issues.length - 5} more`] : [])].join('; ').slice(0, 1_000)
}

/** Why these providers cannot stand side by side; null when they can. */
export function providersClash(providers: readonly { readonly id: string }[]): string | null {
  const seen = new Set<string>([demoProviderId])
  for (const { id } of providers) {
    if (id === demoProviderId) return `The provider id "${demoProviderId}" belongs to the built-in demo model.`
    if (seen.has(id)) return `The provider id "${id}" is there twice.`
    seen.add(id)
  }
  return null
}

/** A limit above what the machine has would bound nothing. One that stands there already may stay: the file may come from a larger machine. */
function limitsObjection(wanted: SandboxLimits, now: SandboxLimits, machineBytes: number): Failure | null {
  if (wanted.memoryBytesMax <= machineBytes || wanted.memoryBytesMax === now.memoryBytesMax) return null
  return failure('invalid-input', `This machine has ${String(Math.floor(machineBytes / 1024 ** 2))} MiB of memory; a sandbox cannot be given ${String(wanted.memoryBytesMax / 1024 ** 2)} MiB.`, 'Set a lower limit on memory in Settings → Isolation.')
}

function broughtUp(value: unknown, steps: readonly SettingsStep[], path: string): Result<unknown, Failure> {
  const from = versionOf(value)
  try {
    return ok(steps.reduce((now, step) => (versionOf(now) === step.from ? { ...step.up(now as Record<string, unknown>), version: step.from + 1 } : now), value))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return err(failure('settings-broken', `The settings of an earlier version (format ${String(from)}) could not be brought to this one (${error.message.slice(0, 500)}) and were not touched: ${path}`, 'Defaults are used and changes are not saved. Install the earlier version again, or move the file away.'))
  }
}

function versionOf(value: unknown): number | null {
  return typeof value === 'object' && value !== null && 'version' in value && typeof value.version === 'number' ? value.version : null
}

async function written(files: SettingsFiles, path: string, settings: Settings): Promise<Failure | null> {
  try {
    await files.write(path, `${JSON.stringify(settings, null, 2)}\n`)
    return null
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') throw error
    if (error.code === 'ENOSPC' || error.code === 'EDQUOT') return failure('disk-full', `The settings could not be saved, the disk is full: ${path}`, 'Free some space and try again.')
    return failure('unavailable', `The settings could not be saved (${error.code}): ${path}`, 'Make the folder writable and try again.')
  }
}
