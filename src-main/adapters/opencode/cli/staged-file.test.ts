import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { stageFile } from './staged-file.ts'

let dir: string
beforeEach(async () => { dir = await mkdtemp(join(tmpdir(), 'staged-')) })
afterEach(async () => { await rm(dir, { recursive: true, force: true }) })
const text = 'export const whole = 1\n'

test('writes a file once, and leaves a good one alone', async () => {
  expect(await stageFile(join(dir, 'new/folder'), 'o.mjs', text)).toEqual({ path: join(dir, 'new/folder/o.mjs'), repaired: false })
  expect(await stageFile(join(dir, 'new/folder'), 'o.mjs', text)).toMatchObject({ repaired: false })
  expect(await readFile(join(dir, 'new/folder/o.mjs'), 'utf8')).toBe(text)
})

test.each([
  ['other bytes of the same length', (path: string) => writeFile(path, text.replace('1', '2'))],
  ['half of it', (path: string) => writeFile(path, text.slice(0, 9))],
  ['an empty file that nobody may write', async (path: string) => { await writeFile(path, ''); await chmod(path, 0o444) }],
  ['a folder', (path: string) => mkdir(path)],
  ['a link to the very same bytes', async (path: string) => { await writeFile(join(dir, 'elsewhere'), text); await symlink(join(dir, 'elsewhere'), path) }],
  ['a link to nothing', (path: string) => symlink(join(dir, 'nothing'), path)],
])('repairs what became %s', async (_what, break_) => {
  await break_(join(dir, 'o.mjs'))
  expect(await stageFile(dir, 'o.mjs', text)).toEqual({ path: join(dir, 'o.mjs'), repaired: true })
  expect(await readFile(join(dir, 'o.mjs'), 'utf8')).toBe(text)
  expect((await readdir(dir)).filter((name) => name.startsWith('.'))).toEqual([])
})

test('several at once leave one whole file', async () => {
  await Promise.all(Array.from({ length: 8 }, () => stageFile(dir, 'o.mjs', text)))
  expect(await readdir(dir)).toEqual(['o.mjs'])
  expect(await readFile(join(dir, 'o.mjs'), 'utf8')).toBe(text)
})
