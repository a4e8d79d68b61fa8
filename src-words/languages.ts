/** A language of the app. `numbers` and `times`: the locales by which they are written; English writes times with 24 hours. */
export interface Language { readonly own: string; readonly numbers: string; readonly times: string; readonly direction: 'ltr' | 'rtl' }

/** The languages that are complete, by code. `own`: the name that its speakers look for, in no other language. */
export const languages = {
  en: { own: 'English', numbers: 'en-US', times: 'en-GB', direction: 'ltr' },
  de: { own: 'Deutsch', numbers: 'de-DE', times: 'de-DE', direction: 'ltr' },
} as const satisfies Readonly<Record<string, Language>>

export type LanguageCode = keyof typeof languages
export const languageCodes = Object.keys(languages) as readonly LanguageCode[]

/** Whether a text is the code of a language of the app. */
export function isLanguageCode(text: unknown): text is LanguageCode {
  return typeof text === 'string' && Object.hasOwn(languages, text)
}

/** The language to speak: the chosen one; else the system's, given as a locale such as `de-AT`, if the app has it; else English. */
export function languageFor(choice: LanguageCode | 'system', systemLocale: string): LanguageCode {
  if (choice !== 'system') return choice
  const code = systemLocale.split(/[-_.]/, 1)[0]?.toLowerCase()
  return isLanguageCode(code) ? code : 'en'
}
