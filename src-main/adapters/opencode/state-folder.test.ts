import { lstat, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { prepareStateFolder } from './state-folder.ts'

let folder = ''
beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'state-test-')) })
afterEach(async () => { await rm(folder, { recursive: true, force: true }) })

test('a new home holds the plugin stub and nothing else', async () => {
  const state = join(folder, 'state')
  await prepareStateFolder(state)
  expect(await readdir(state, { recursive: true })).toEqual(expect.arrayContaining(['.config', '.config/opencode', '.config/opencode/node_modules', '.config/opencode/package-lock.json']))
  expect(await readdir(state, { recursive: true })).toHaveLength(4)
})

test('the database outlives a boot; whatever could steer the next one does not', async () => {
  const data = join(folder, '.local/share/opencode')
  await mkdir(join(data, 'storage'), { recursive: true })
  await mkdir(join(folder, '.config/opencode/plugin'), { recursive: true })
  await mkdir(join(folder, '.opencode/tool'), { recursive: true })
  await mkdir(join(folder, '.local/share/other'), { recursive: true })
  for (const path of ['.config/opencode/opencode.json', '.config/opencode/plugin/evil.js', '.opencode/tool/evil.js', 'AGENTS.md', '.npmrc', '.local/share/opencode/auth.json', '.local/share/opencode/opencode.db', '.local/share/opencode/storage/x']) await writeFile(join(folder, path), 'x')
  await prepareStateFolder(folder)
  expect((await readdir(folder)).toSorted()).toEqual(['.config', '.local'])
  expect(await readdir(join(folder, '.config/opencode'))).toEqual(['node_modules', 'package-lock.json'])
  expect(await readdir(join(folder, '.local/share'))).toEqual(['opencode'])
  expect((await readdir(data)).toSorted()).toEqual(['opencode.db', 'storage'])
  expect(await readFile(join(data, 'storage/x'), 'utf8')).toBe('x')
})

test('links that the agent left are removed and never followed', async () => {
  const outside = join(folder, 'outside')
  const state = join(folder, 'state')
  await mkdir(join(state, '.local'), { recursive: true })
  await mkdir(outside)
  await writeFile(join(outside, 'keep'), 'x')
  await symlink(outside, join(state, '.config'))
  await symlink(outside, join(state, '.local/share'))
  await prepareStateFolder(state)
  expect(await readdir(outside)).toEqual(['keep'])
  expect((await lstat(join(state, '.config'))).isDirectory()).toBe(true)
  await expect(lstat(join(state, '.local/share'))).rejects.toMatchObject({ code: 'ENOENT' })
})
