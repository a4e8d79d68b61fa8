import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scratchFolder } from './scratch.suite.ts'
import { textFiles } from './text-files.ts'

describe('text files', () => {
  it('are written whole, for the owner only, and leave no draft', async () => {
    const path = join(scratchFolder(), 'deep/settings.json')
    expect(await textFiles.read(path)).toBe(null)
    await textFiles.write(path, 'one ü')
    await textFiles.write(path, 'two')
    expect(await textFiles.read(path)).toBe('two')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(path, '..'))).toEqual(['settings.json'])
  })

  it('stay as they were when a replacement fails', async () => {
    const path = join(scratchFolder(), 'settings.json')
    mkdirSync(join(path, 'in-the-way'), { recursive: true })
    await expect(textFiles.write(path, 'new')).rejects.toThrow()
    expect(readdirSync(join(path, '..'))).toEqual(['settings.json'])
  })

  it('set aside cover nothing that was set aside before', async () => {
    const folder = scratchFolder()
    const path = join(folder, 'settings.json')
    for (const text of ['first', 'second']) {
      writeFileSync(path, text)
      await textFiles.setAside(path)
    }
    expect(readdirSync(folder).sort()).toEqual(['settings.broken-1.json', 'settings.broken-2.json'])
    expect(readFileSync(join(folder, 'settings.broken-1.json'), 'utf8')).toBe('first')
    expect(readFileSync(join(folder, 'settings.broken-2.json'), 'utf8')).toBe('second')
  })
})
