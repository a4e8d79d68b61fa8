import { renderToString } from 'react-dom/server'
import type { Bridge } from '../src-preload/contract/methods.ts'
import { languageCodes, type LanguageCode } from '../src-words/languages.ts'
import { speak } from './i18n/language.ts'
import { wholeWindow } from './whole-window.tsx'

/** Nobody answers while a page is built. */
const silent: Bridge = { call: () => new Promise(() => undefined), onPatch: () => () => undefined, onSignal: () => () => undefined }

/**
 * What the window of somebody without a task begins with, as HTML, in each language. For the build (build/first-screen), which puts it into pages
 * of its own, and which can load nothing more once this file has been evaluated.
 */
export const firstScreens: ReadonlyMap<LanguageCode, string> = await drawAll()

async function drawAll(): Promise<ReadonlyMap<LanguageCode, string>> {
  const screens = new Map<LanguageCode, string>()
  for (const code of languageCodes) {
    await speak(code)
    screens.set(code, renderToString(wholeWindow(silent, { firstScreen: true, onReady: () => undefined })))
  }
  return screens
}
