import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { settingsSchema } from '../../src-preload/contract/settings.ts'
import { languageCodes } from '../../src-words/languages.ts'
import { chosenLanguage } from './chosen-language.ts'

describe('the language of the first frame', () => {
  let folder: string
  let path: string
  beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'language-')); path = join(folder, 'settings.json') })
  afterEach(() => { rmSync(folder, { recursive: true, force: true }) })

  it('is the one that the settings name', () => {
    writeFileSync(path, JSON.stringify({ version: 1, appearance: { theme: 'dark', language: 'de' } }))
    expect(chosenLanguage(path)).toBe('de')
  })

  it.each(['{"appearance":{"language":"system"}}', '{"appearance":{}}', '{"appearance":{"language":"xx"}}', '{"appearance":{"language":["de"]}}', '{}', 'null', '7', '', '{"appearance":{"lang'])('is not chosen in a file such as %s', (text) => {
    writeFileSync(path, text)
    expect(chosenLanguage(path)).toBe(null)
  })

  it('is not chosen where there is no file, or a folder in its place', () => {
    expect(chosenLanguage(path)).toBe(null)
    mkdirSync(path)
    expect(chosenLanguage(path)).toBe(null)
  })
})

it('the settings offer each language of the app, and the system\'s', () => {
  expect(settingsSchema.shape.appearance.shape.language.unwrap().options.toSorted()).toEqual(['system', ...languageCodes].toSorted())
})
