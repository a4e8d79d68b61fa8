import { app } from 'electron'
import { createCatalogue } from '../../src-words/catalogue.ts'
import { words as english } from '../../src-words/en/shell.ts'
import { languageFor, languages, type LanguageCode } from '../../src-words/languages.ts'
import type { MessageTree } from '../../src-words/message.ts'

const catalogue = createCatalogue(english)

/** The words outside the window, in the language that is spoken at the moment; to be read where they are used, never kept. */
export const t = catalogue.words

const load: Readonly<Record<LanguageCode, () => Promise<MessageTree>>> = {
  en: () => Promise.resolve(english),
  de: async () => (await import('../../src-words/de/shell.ts')).words,
}

let spoken: LanguageCode = 'en'

/** Speaks the language of the settings from now on. True when that is another one than before. */
export async function speak(choice: LanguageCode | 'system'): Promise<boolean> {
  const code = languageFor(choice, app.getLocale())
  if (code === spoken) return false
  spoken = code
  catalogue.use(languages[code].numbers, await load[code]())
  return true
}
