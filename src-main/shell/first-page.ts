import { readdirSync } from 'node:fs'
import { languageFor, type LanguageCode } from '../../src-words/languages.ts'
import type { ChosenLooks } from './chosen-looks.ts'

/** The page that the window begins with: a file of the build, and the attributes of its root element. */
export interface FirstPage { readonly file: string; readonly root: string }

/**
 * Somebody without a task gets the page that a build has drawn the first screen into (build/first-screen), in the language of the window;
 * everybody else the empty one. The window corrects a wrong guess as soon as it has the rows. `locale`: the system's, such as `de-AT`.
 */
export function firstPage({ language, theme, density }: ChosenLooks, locale: string, noTaskYet: boolean): FirstPage {
  const spoken: LanguageCode = languageFor(language ?? 'system', locale)
  const looks = [`lang="${spoken}"`, ...(theme === null ? [] : [`data-theme="${theme}"`]), ...(density === null ? [] : [`data-density="${density}"`])]
  return { file: noTaskYet ? `first-${spoken}.html` : 'index.html', root: looks.join(' ') }
}

/** Whether no task has ever had a workspace in `tasksDir`: each leaves its folder there, also after its end. */
export function hasNoTaskYet(tasksDir: string): boolean {
  try {
    return readdirSync(tasksDir).length === 0
  } catch (absent) {
    if (absent instanceof Error && 'code' in absent) return absent.code === 'ENOENT'
    throw absent
  }
}
