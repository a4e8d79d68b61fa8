import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { realPathInside } from './real-path.ts'

const workspace = mkdtempSync(join(tmpdir(), 'countersign-real-'))
afterAll(() => { rmSync(workspace, { recursive: true, force: true }) })
mkdirSync(join(workspace, 'src/deep'), { recursive: true })
writeFileSync(join(workspace, 'src/a.ts'), '')
const link = (target: string, at: string): void => { symlinkSync(target, join(workspace, at)) }
link('src', 'short')
link('a.ts', 'src/b.ts')
link('/workspace/src/deep', 'absolute')
link('/etc', 'system')
link('../../../etc/passwd', 'src/climbs')
link('loop', 'loop')
link('gone', 'dangling')

describe('realPathInside', () => {
  it.each([
    ['a plain file', '/workspace/src/a.ts', '/workspace/src/a.ts'],
    ['a file that does not exist yet', '/workspace/src/new/file.ts', '/workspace/src/new/file.ts'],
    ['a link to a folder in the middle', '/workspace/short/a.ts', '/workspace/src/a.ts'],
    ['a link as the last name', '/workspace/src/b.ts', '/workspace/src/a.ts'],
    ['two links after one another', '/workspace/short/b.ts', '/workspace/src/a.ts'],
    ['an absolute link, as the sandbox sees it', '/workspace/absolute/x', '/workspace/src/deep/x'],
    ['a link that leads out of the workspace', '/workspace/system/passwd', '/etc/passwd'],
    ['a link that climbs out of the workspace', '/workspace/src/climbs', '/etc/passwd'],
    ['a dangling link', '/workspace/dangling', '/workspace/gone'],
    ['a path outside, of which nothing is read', '/etc/passwd', '/etc/passwd'],
  ])('tells where %s leads', (_what, path, real) => {
    expect(realPathInside(workspace, path)).toBe(real)
  })

  it('gives none for links that never end', () => {
    expect(realPathInside(workspace, '/workspace/loop/x')).toBeNull()
  })
})
