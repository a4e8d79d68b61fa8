import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { settingsSchema } from '../../src-preload/contract/settings.ts'
import { languageCodes } from '../../src-words/languages.ts'
import { chosenLooks } from './chosen-looks.ts'

describe('the looks of the first frame', () => {
  let folder: string
  let path: string
  beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'looks-')); path = join(folder, 'settings.json') })
  afterEach(() => { rmSync(folder, { recursive: true, force: true }) })

  it('are those that the settings name', () => {
    writeFileSync(path, JSON.stringify({ version: 1, appearance: { theme: 'dark', density: 'compact', language: 'de' } }))
    expect(chosenLooks(path)).toEqual({ theme: 'dark', density: 'compact', language: 'de' })
    writeFileSync(path, JSON.stringify({ appearance: { theme: 'light', density: 'comfortable' } }))
    expect(chosenLooks(path)).toEqual({ theme: 'light', density: null, language: null })
  })

  it.each(['{"appearance":{"language":"system","theme":"system"}}', '{"appearance":{}}', '{"appearance":{"language":"xx","theme":"\\"><script>","density":7}}', '{"appearance":{"language":["de"]}}', '{"appearance":7}', '{}', 'null', '7', '', '{"appearance":{"lang'])('are not chosen in a file such as %s', (text) => {
    writeFileSync(path, text)
    expect(chosenLooks(path)).toEqual({ theme: null, density: null, language: null })
  })

  it('are not chosen where there is no file, or a folder in its place', () => {
    expect(chosenLooks(path)).toEqual({ theme: null, density: null, language: null })
    mkdirSync(path)
    expect(chosenLooks(path)).toEqual({ theme: null, density: null, language: null })
  })
})

it('the settings offer each language of the app, and the system\'s', () => {
  expect(settingsSchema.shape.appearance.shape.language.unwrap().options.toSorted()).toEqual(['system', ...languageCodes].toSorted())
})
