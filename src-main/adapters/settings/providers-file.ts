import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { providersFileSchema, type Provider } from '../../../src-preload/contract/settings.ts'
import { parseJson, providersClash, told, type SettingsFiles } from './settings-store.ts'

/**
 * Reads the file that COUNTERSIGN_PROVIDERS names. All or nothing: with a problem no provider of it is used. `path` undefined or empty:
 * there is none.
 */
export async function loadProvidersFile(path: string | undefined, files: Pick<SettingsFiles, 'read'>): Promise<{ readonly providers: readonly Provider[]; readonly problem: Failure | null }> {
  if (path === undefined || path === '') return { providers: [], problem: null }
  const broken = (why: string): { readonly providers: readonly Provider[]; readonly problem: Failure } =>
    ({ providers: [], problem: failure('settings-broken', `COUNTERSIGN_PROVIDERS names ${path}: ${why}`, 'Correct the file and start the app again. None of its providers is used.') })
  let text: string | null
  try {
    text = await files.read(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return broken(`it cannot be read (${String(error.code)})`)
    throw error
  }
  if (text === null) return broken('there is no such file')
  const parsed = parseJson(text)
  if (!parsed.ok) return broken(parsed.error)
  const checked = providersFileSchema.safeParse(parsed.value)
  if (!checked.success) return broken(told(checked.error))
  const clash = providersClash(checked.data)
  return clash === null ? { providers: checked.data, problem: null } : broken(clash)
}
