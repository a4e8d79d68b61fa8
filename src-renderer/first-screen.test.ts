import { expect, it } from 'vitest'
import { words as german } from '../src-words/de/window.ts'
import { words as english } from '../src-words/en/window.ts'
import { languageCodes } from '../src-words/languages.ts'
import { firstScreens } from './first-screen.tsx'

it('the first screen is drawn in each language, its buttons to be pressed', () => {
  expect([...firstScreens.keys()]).toEqual(languageCodes)
  for (const [code, words] of [['en', english], ['de', german]] as const) {
    const screen = firstScreens.get(code) ?? ''
    expect(screen).toMatch(new RegExp(`<button[^>]*>(?:(?!</button>).)*${words.first.runSample}</button>`))
    expect(screen).toContain(words.nav.settings)
    expect(screen).not.toMatch(/<button[^>]* disabled/)
  }
})
