import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { execFileSync } from 'node:child_process'
import { baseBytesMax, lookAt, realPathInside, withSeenFiles } from './real-path.ts'

const workspace = join(mkdtempSync(join(tmpdir(), 'countersign-real-')), 'workspace')
const ground = { workspaceDir: workspace, workspaceInside: '/workspace' } as const
afterAll(() => { rmSync(join(workspace, '..'), { recursive: true, force: true }) })
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
link('/tmp/elsewhere', 'outside')
link('outside/../x.ts', 'returns')
link('/tmp/../workspace/src/a.ts', 'roundabout')

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
    expect(realPathInside(ground, path)).toBe(real)
  })

  it('reads `..` as the system does: from where the link before it leads, not from where that is written', () => {
    const links = { jump: 'src/deep', back: 'jump/../a.ts', 'src/twice': '../jump/../../src/../src/a.ts', 'src/deep/up': '../../jump/..', through: 'src/deep/up/deep/../a.ts' }
    for (const [at, target] of Object.entries(links)) link(target, at)
    const root = realpathSync(workspace)
    const told = Object.keys(links).map((at) => [at, realPathInside(ground, `/workspace/${at}`)])
    expect(told).toEqual(Object.keys(links).map((at) => [at, realpathSync.native(join(root, at)).replace(root, '/workspace')]))
    expect(Object.fromEntries(told)).toMatchObject({ back: '/workspace/src/a.ts' })
  })

  it.each(['/workspace/returns', '/workspace/roundabout'])('gives none for a link that comes back from where nothing is read: %s', (path) => {
    expect(realPathInside(ground, path)).toBeNull()
  })

  it('follows links by what programs inside call the workspace', () => {
    link('/Users/o/ws/src/deep', 'ours')
    link('/Users/o/ws/../ws/src/deep', 'around')
    const elsewhere = { workspaceDir: workspace, workspaceInside: '/Users/o/ws' } as const
    expect(['ours', 'around', 'absolute', 'src/climbs'].map((name) => realPathInside(elsewhere, `/workspace/${name}`))).toEqual(['/workspace/src/deep', '/ws/src/deep', '/outside/workspace/src/deep', '/etc/passwd'])
  })

  it('gives none for links that never end', () => {
    expect(realPathInside(ground, '/workspace/loop/x')).toBeNull()
  })
})

describe('what an edit\'s files hold when it is asked for', () => {
  const bases = (...paths: string[]): unknown => {
    const files = paths.map((path) => ({ path, real: null }))
    return withSeenFiles({ signalId: 's', sessionId: 'ses', parentSessionId: null, is: 'permission-asked', permissionId: 'per', callId: null, permission: 'edit', patterns: [], command: null, workdir: null, files, diff: '', edit: { tool: 'write', input: {}, bases: [] } }, paths.map((path) => lookAt(ground, path, baseBytesMax))).edit?.bases
  }
  writeFileSync(join(workspace, 'src/text.ts'), '\uFEFFone\n')
  writeFileSync(join(workspace, 'large'), Buffer.alloc(1024 * 1024 + 1))
  writeFileSync(join(workspace, '../secret-of-the-host'), 'secret')
  link('../../secret-of-the-host', 'src/out')
  execFileSync('mkfifo', [join(workspace, 'pipe')])

  it('is told of a file, through links inside the workspace, and of one that is to be made', () => {
    expect(bases('/workspace/src/text.ts', '/workspace/short/text.ts', '/workspace/new.ts')).toEqual([{ path: '/workspace/src/text.ts', text: '\uFEFFone\n' }, { path: '/workspace/short/text.ts', text: '\uFEFFone\n' }, { path: '/workspace/new.ts', text: null }])
  })

  it.each(['/workspace/src/out', '/workspace/system/hostname', '/etc/hostname', '/workspace/pipe', '/workspace/src', '/workspace', '/workspace/large', '/workspace/loop', '/workspace/src/text.ts/x', 'src/text.ts'])('is not told of what is no file of the workspace, or too large: %s', (path) => {
    expect(bases(path)).toEqual([])
  })
})
