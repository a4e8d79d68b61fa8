import { readFileSync } from 'node:fs'
import { isLanguageCode, type LanguageCode } from '../../src-words/languages.ts'

/** How the owner wants the window to look; null where the settings leave it to the system or to the app. */
export interface ChosenLooks { readonly language: LanguageCode | null; readonly theme: 'light' | 'dark' | null; readonly density: 'compact' | null }

const nothingChosen: ChosenLooks = { language: null, theme: null, density: null }

/**
 * The looks that the settings file names. For the window's first frame, which comes before the settings are read with care: whatever is wrong
 * with the file is told then.
 */
export function chosenLooks(settingsFile: string): ChosenLooks {
  try {
    const settings: unknown = JSON.parse(readFileSync(settingsFile, 'utf8'))
    const { language, theme, density } = (settings as { readonly appearance?: Readonly<Partial<Record<keyof ChosenLooks, unknown>>> } | null)?.appearance ?? {}
    return { language: isLanguageCode(language) ? language : null, theme: theme === 'light' || theme === 'dark' ? theme : null, density: density === 'compact' ? density : null }
  } catch (unreadable) {
    if (unreadable instanceof SyntaxError || (unreadable instanceof Error && 'code' in unreadable)) return nothingChosen
    throw unreadable
  }
}
