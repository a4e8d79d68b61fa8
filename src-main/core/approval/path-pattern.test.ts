import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { namesBelowWorkspace, parsePattern, patternCovers, roomName } from './path-pattern.ts'

describe('patternCovers', () => {
  it.each([
    ['/workspace/src/a.ts', '/workspace/src/a.ts'], ['/workspace/src/*', '/workspace/src/a.ts'], ['/workspace/src/**', '/workspace/src/deep/er/a.ts'],
    ['/workspace/**/a.ts', '/workspace/x/y/a.ts'], ['/workspace/**', '/workspace/a'], ['/workspace/*/test/**', '/workspace/pkg/test/x/y'],
  ])('%s covers %s', (pattern, path) => { expect(patternCovers(pattern, path)).toBe(true) })

  it.each([
    ['/workspace/src/a.ts', '/workspace/src/A.ts'], ['/workspace/src/*', '/workspace/src/deep/a.ts'], ['/workspace/src/**', '/workspace/src'], ['/workspace/src/**', '/workspace/srcs/a'],
    ['/workspace/**', '/workspace/.git/hooks/pre-commit'], ['/workspace/src/**', '/workspace/src/.env'], ['/workspace/src/*', '/workspace/src/.npmrc'], ['/workspace/**/a.ts', '/workspace/.x/a.ts'],
    ['/workspace/src/**', '/workspace/src/../../etc/passwd'], ['/workspace/src/**', '/workspace/src/./a'], ['/workspace/src/**', '/workspace/src//a'], ['/workspace/src/**', '/etc/passwd'], ['/workspace/**', '/workspace'], ['/workspace/**', '/workspacex/a'],
    ['/workspace/src/**', '/workspace/src/a\u200b.ts'], ['/workspace/src/**', '/workspace/src/a\u202e.ts'], ['/workspace/src/**', '/workspace/src/a\nb'], ['/workspace/src/**', '/workspace/src/\ud800'],
    ['/workspace/src/\u00e9', '/workspace/src/e\u0301'],
  ])('%j does not cover %j', (pattern, path) => { expect(patternCovers(pattern, path)).toBe(false) })

  it.each(['', '/', '/workspace', '/workspace/', '/etc/*', 'src/*', '/workspace/../etc', '/workspace/a*', '/workspace/?', '/workspace/[ab]', '/workspace/{a,b}', '/workspace/!a', '/workspace/***', '/workspace/a\\b', '/workspace/a//b', '/workspace/\u202ea', `/workspace/${'a/'.repeat(200)}b`])('refuses the pattern %j, so that it covers nothing', (pattern) => {
    expect(parsePattern(pattern).ok).toBe(false)
    expect(patternCovers(pattern, pattern)).toBe(false)
  })

  it.each<[string, string]>([
    [`/workspace/${'a'.repeat(4_086)}`, 'the path is too long'], ['/etc/passwd', 'the path does not lead into the workspace'], ['/workspace/a\u202eb', 'the path holds characters that cannot be seen'], ['/workspace/a\u2028b', 'the path holds characters that cannot be seen'],
    ['/workspace/a\u2029b', 'the path holds characters that cannot be seen'], [`/workspace/${'a/'.repeat(128)}b`, 'the path is too deep'], ['/workspace/a/', 'the path is not written plainly'], ['/workspace/./a', 'the path is not written plainly'], ['/workspace/a/..', 'the path is not written plainly'],
  ])('says why a path is none: %.40s', (path, why) => { expect(namesBelowWorkspace(path)).toEqual({ ok: false, error: why }) })

  it('takes a path as long and as deep as the limits say, name by name', () => {
    expect(namesBelowWorkspace(`/workspace/${'a'.repeat(4_085)}`)).toEqual({ ok: true, value: ['a'.repeat(4_085)] })
    expect(namesBelowWorkspace(`/workspace/${'a/'.repeat(127)}b`)).toEqual({ ok: true, value: [...Array.from({ length: 127 }, () => 'a'), 'b'] })
    expect(namesBelowWorkspace('/workspace/.hidden/..x/a b')).toEqual({ ok: true, value: ['.hidden', '..x', 'a b'] })
  })

  it.each(['a*', '*a', '?', '[ab]', 'a]', '{a', 'b}', '!a', '***', 'a\\b'])('says which name of a pattern is neither plain nor a star: %s', (name) => {
    expect(parsePattern(`/workspace/x/${name}/y`)).toEqual({ ok: false, error: `"${name}" is neither a plain name nor * nor **` })
  })

  const name = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '-'), minLength: 1, maxLength: 4 })
  const path = fc.array(name, { minLength: 1, maxLength: 6 }).map((names) => `/workspace/${names.join('/')}`)

  it('covers exactly itself where it holds no star', () => {
    fc.assert(fc.property(path, path, (one, other) => {
      fc.pre(!one.includes('*') && parsePattern(one).ok)
      expect(patternCovers(one, one)).toBe(true)
      expect(patternCovers(one, other)).toBe(one === other)
    }))
  })

  it('covers what the same pattern as a regular expression covers, and nothing that is not below the workspace', () => {
    fc.assert(fc.property(fc.array(fc.oneof(fc.constantFrom('*', '**'), name), { minLength: 1, maxLength: 5 }), path, (names, other) => {
      const pattern = `/workspace/${names.join('/')}`
      const covered = patternCovers(pattern, other)
      if (!parsePattern(pattern).ok || !namesBelowWorkspace(other).ok) { expect(covered).toBe(false); return }
      const one = '(?!\\.)[^/]+'
      const expression = new RegExp(`^/workspace/${names.map((part) => (part === '*' ? one : part === '**' ? `${one}(?:/${one})*` : part.replace(/[.-]/g, '\\$&'))).join('/')}$`)
      expect(covered).toBe(expression.test(other))
    }), { numRuns: 3_000 })
  })
})

describe('roomName', () => {
  it.each([
    ['/home/o/copy', '/workspace'], ['/home/o/copy/a/b', '/workspace/a/b'], ['/home/o/copy2/a', '/home/o/copy2/a'], ['/other/home/o/copy/', '/other/home/o/copy/'], ['/etc/passwd', '/etc/passwd'],
    ['/workspace', '/outside/workspace'], ['/workspace/a', '/outside/workspace/a'], ['/workspaces/a', '/workspaces/a'],
  ])('of %s is %s where the workspace lies elsewhere', (path, name) => { expect(roomName('/home/o/copy', path)).toBe(name) })

  it.each(['/workspace', '/workspace/a', '/etc/passwd'])('is the path itself where the workspace is called as in the room: %s', (path) => { expect(roomName('/workspace', path)).toBe(path) })
})
