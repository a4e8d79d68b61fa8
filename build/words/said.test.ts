import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { said as german } from '../../src-words/de/said.ts'
import { translatorOf } from '../../src-words/said.ts'

const folder = resolve(import.meta.dirname, '../../src-main')
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts') && !/\.(?:test|suite)\.ts$/.test(path)).map((path) => readFileSync(join(folder, path), 'utf8').replaceAll("\\'", "'")).join('\n')

describe('what the main process says', () => {
  it('is translated by its English words, and what it names is taken over', () => {
    const translate = translatorOf([['Stopped.', 'Gestoppt.'], ['{who} took {n} of (all) {what}', 'Von {what} (allen) nahm {who} {n}']])
    expect(['Stopped.', 'Bot B took 3 of (all) files', 'Bot B took 3 of files', 'Stopped'].map(translate)).toEqual(['Gestoppt.', 'Von files (allen) nahm Bot B 3', 'Bot B took 3 of files', 'Stopped'])
  })

  it('takes nothing of what it names for a name or for a pattern', () => {
    const translate = translatorOf([['Refused: {why}', 'Verweigert: {why}']])
    expect(translate('Refused: {why} $& $1 .*\nrm -rf')).toBe('Verweigert: {why} $& $1 .*\nrm -rf')
  })

  it.each(german.map(([english]) => english))('is still said so: %s', (english) => {
    const pieces = english.split(/\{\w+\}|\b(?:files?|calls?)\b|; | at /).map((piece) => piece.trim()).filter((piece) => /\p{L}{2}/u.test(piece))
    expect(pieces.filter((piece) => !sources.includes(piece))).toEqual([])
  })

  it.each(german)('names the same things in German: %s', (english, translated) => {
    const names = (text: string): readonly string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '').toSorted()
    expect(names(translated)).toEqual(names(english))
  })
})
