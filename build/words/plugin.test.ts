import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'vite'
import { expect, it } from 'vitest'
import { compiledWords } from './plugin.ts'

const folder = resolve(import.meta.dirname, '../../src-words')

it.each(readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts')))('a bundle with src-words/%s can be made', async (path) => {
  const made = await build({ configFile: false, logLevel: 'silent', plugins: [compiledWords()], build: { write: false, minify: false, lib: { entry: join(folder, path), formats: ['es'] }, rolldownOptions: { external: [/^@lingui\//] } } })
  const code = [made].flat().flatMap((one) => ('output' in one ? one.output : [])).map((piece) => (piece.type === 'chunk' ? piece.code : '')).join('')
  // What a build has of a message is its pieces.
  expect(code).not.toMatch(/, plural, (?:=0|one) /)
})
