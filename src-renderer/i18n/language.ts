import { useSyncExternalStore } from 'react'
import { words as english } from '../../src-words/en/window.ts'
import { languages, type Language, type LanguageCode } from '../../src-words/languages.ts'
import type { MessageTree } from '../../src-words/message.ts'
import { saidNumbers } from './said-numbers.ts'
import { setMessages } from './text.ts'

/** A language with all that the window needs of it. */
export interface Spoken extends Pick<Language, 'numbers' | 'times' | 'direction'> {
  /** What the document names as its language. */
  readonly tag: string
  readonly messages: MessageTree
  /** What the main process says, in this language; absent in English, which it speaks. */
  readonly translate?: (text: string) => string
}

/** English is in the window's first script; the others come when they are chosen. */
const load: Readonly<Record<LanguageCode, () => Promise<Pick<Spoken, 'messages' | 'translate'>>>> = {
  en: () => Promise.resolve({ messages: english }),
  de: async () => {
    const [{ words }, { said }, { translatorOf }] = await Promise.all([import('../../src-words/de/window.ts'), import('../../src-words/de/said.ts'), import('../../src-words/said.ts')])
    return { messages: words, translate: translatorOf(said) }
  },
}

let spoken: Spoken = { ...languages.en, tag: 'en', messages: english }
let wanted: LanguageCode = 'en'
const listeners = new Set<() => void>()

/** What is spoken at the moment. */
export function spokenNow(): Spoken {
  return spoken
}

/** Speaks a language from now on; what is drawn is drawn anew. Of two calls the later counts, whichever comes in first. */
export async function speak(code: LanguageCode): Promise<void> {
  if (wanted === code) return
  wanted = code
  const loaded = await load[code]()
  // Asked again meanwhile.
  if (wanted === code) speakIn({ ...languages[code], tag: code, ...loaded })
}

/** A sentence of the main process in the language that is spoken, its counts as that writes them; one that has no translation stays English. Never for words of a bot or the owner. */
export function translated(text: string): string {
  return translatedExactly(saidNumbers(text, spoken.numbers))
}

/** The same with every number as it stands, for what is shown exactly. */
export function translatedExactly(text: string): string {
  return spoken.translate?.(text) ?? text
}

/** Speaks a language that is here already. */
export function speakIn(next: Spoken): void {
  spoken = next
  setMessages(next.numbers, next.messages)
  for (const listener of [...listeners]) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => { listeners.delete(listener) }
}

/** What is spoken; redraws when that changes. */
export function useSpoken(): Spoken {
  return useSyncExternalStore(subscribe, spokenNow, spokenNow)
}
