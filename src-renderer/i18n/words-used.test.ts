import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { en } from './en.ts'

/** What draws the window, and the contract, whose states name words that are looked up by them. */
const folders = ['src-renderer', 'src-preload'].map((folder) => resolve(import.meta.dirname, '../..', folder))
const sources = folders.flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$|(?:^|[/\\])en\.ts$/.test(path)).map((path) => readFileSync(join(folder, path), 'utf8')))
const named = new Set(sources.flatMap((text) => text.match(/[A-Za-z]\w*/g) ?? []))

function keysOf(words: object): string[] {
  return Object.entries(words).flatMap(([key, word]) => [key, ...(typeof word === 'object' && word !== null && !Array.isArray(word) ? keysOf(word as object) : [])])
}

it('every word of the window is named somewhere, so that none stays when its place has gone', () => {
  expect(keysOf(en).filter((key) => key.split('-').some((part) => !named.has(part)))).toEqual([])
})
