import { readFileSync } from 'node:fs'
import { isLanguageCode, type LanguageCode } from '../../src-words/languages.ts'

/**
 * The language that the settings file names; null where it names none or cannot be read. For the window's first frame, which comes before the
 * settings are read with care: whatever is wrong with the file is told then.
 */
export function chosenLanguage(settingsFile: string): LanguageCode | null {
  try {
    const settings: unknown = JSON.parse(readFileSync(settingsFile, 'utf8'))
    const chosen = (settings as { readonly appearance?: { readonly language?: unknown } } | null)?.appearance?.language
    return isLanguageCode(chosen) ? chosen : null
  } catch (unreadable) {
    if (unreadable instanceof SyntaxError || (unreadable instanceof Error && 'code' in unreadable)) return null
    throw unreadable
  }
}
