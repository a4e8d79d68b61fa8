import { spawn } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { IgnoreRules } from './ignore-rules.ts'
import { git, removeAll } from './test-bed.suite.ts'

let repo = ''
beforeAll(async () => {
  repo = await mkdtemp(join(tmpdir(), 'countersign-ignore-'))
  await git(repo, 'init', '-q')
})
afterAll(() => removeAll(repo))

/** What git's own matcher says of each path: whether the last rule that matches it, or a folder above it, ignores it. */
async function askGit(rules: string, paths: readonly string[]): Promise<readonly boolean[]> {
  await writeFile(join(repo, '.gitignore'), rules)
  const child = spawn('git', ['check-ignore', '--no-index', '-v', '-n', '-z', '--stdin'], { cwd: repo, env: { PATH: process.env['PATH'] ?? '', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' } })
  child.stdin.end(paths.join('\0') + '\0')
  const chunks: Buffer[] = []
  for await (const chunk of child.stdout) chunks.push(chunk as Buffer)
  const fields = Buffer.concat(chunks).toString('utf8').split('\0')
  return paths.map((_, index) => {
    const pattern = fields[index * 4 + 2] ?? ''
    return pattern !== '' && !pattern.startsWith('!')
  })
}

/** The same by our rules, walking down as the walker does. `git check-ignore` takes a path that does not exist for a file. */
function askOurs(rules: string, path: string): boolean {
  const ours = new IgnoreRules([{ folder: '', level: 'gitignore', text: rules }])
  const parts = path.split('/')
  return parts.some((_, index) => ours.ignores(parts.slice(0, index + 1).join('/'), index < parts.length - 1))
}

async function expectAgreement(rules: string, paths: readonly string[]): Promise<void> {
  const gits = await askGit(rules, paths)
  expect(paths.map((path) => [path, askOurs(rules, path)]), JSON.stringify(rules)).toEqual(paths.map((path, index) => [path, gits[index]]))
}

const paths = [
  'a', 'b', 'a.log', 'b.log', '.log', 'a/b', 'a/b.log', 'a/b/c', 'x/a', 'x/a/b', 'x/y/a', 'build', 'build/o', 'src/build/o', 'foo bar', 'foo ', 'a]b', 'a-b', 'a*b', 'a?b', 'a\\b', '#a', '!a', 'ä.log', 'é', 'abc/x/y', 'abc', 'x/abc/y', 'doc/a.txt', 'doc/server/a.txt', 'A', 'a1', 'a_', '日本/本.md', 'a\tb',
]
const rules = [
  '*.log', '/a', 'a/', 'a', '!a.log\n*.log', '*.log\n!a.log', 'build/', '/build/', 'src/build', '**/build', 'abc/**', 'a/**/b', '**/a/b', '**', '*', '*/', '/*', '/*\n!/a', 'foo\\ ', 'foo ', 'foo bar', '\\#a', '#a', '\\!a', '!a', 'a[]]b', 'a[!x]b', 'a[^-]b', 'a[\\]]b', 'a\\*b', 'a\\?b', 'a\\\\b', 'a?b', '?', '??', '[[:upper:]]', 'a[[:digit:]]', 'a[[:nope:]]', 'a[0-9_]', 'a[9-0]', '[a-c', 'a\\', 'doc/*.txt', 'doc/**/*.txt', '**/*.txt', 'x/**', '/', '//', 'a//b', 'a/*', 'a/*/c', 'a/**', '*b*', '***', 'a***b', '**a', 'x**/a', 'x/**a', '\uFEFFa', 'a\r', 'a\r\n*.log\r', '日本/', '?.log', '??.log', '*.l[o]g', 'a[!/]b', 'x/[!a]', '/**/a', '**/', 'a/**/', '/**', '!*\n*', '*\n!*/\n!*.txt',
]

describe('ignore rules', () => {
  test.each(rules)('agree with git on %j', async (text) => expectAgreement(text, paths))

  test('agree with git on any rules and paths made of the characters that matter', async () => {
    const pattern = fc.array(fc.constantFrom('a', 'b', 'a', '*', '**', '?', '/', '[ab]', '[!a]', '[a-', ']', '\\', '!', '#', ' ', '-', 'é'), { minLength: 1, maxLength: 7 }).map((parts) => parts.join(''))
    const name = fc.array(fc.constantFrom('a', 'b', '-', ']', '#', '!', 'é', ' '), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''))
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
    await fc.assert(fc.asyncProperty(fc.array(pattern, { minLength: 1, maxLength: 4 }), fc.array(path, { minLength: 20, maxLength: 40 }), async (lines, candidates) => expectAgreement(lines.join('\n'), candidates)), { numRuns: 150 })
  })

  test('answer at once on a pattern that makes backtracking matchers hang', () => {
    const ours = new IgnoreRules([{ folder: '', level: 'gitignore', text: `${'a*'.repeat(200)}b\n${'**/a/'.repeat(100)}b` }])
    expect(ours.ignores('a'.repeat(255), false)).toBe(false)
    expect(ours.ignores(`${'a/'.repeat(400)}c`, false)).toBe(false)
  })

  test('follow git in which file of rules wins', () => {
    const ours = new IgnoreRules([
      { folder: '', level: 'gitignore', text: '*.log\n/sub/keep' }, { folder: 'sub', level: 'gitignore', text: '!*.log\n/own' }, { folder: '', level: 'exclude', text: '*.tmp\n!a.log' }, { folder: '', level: 'default', text: 'cache/\n!b.tmp' },
    ])
    expect(['a.log', 'sub/a.log', 'sub/keep', 'sub/own', 'own', 'sub/x/own', 'b.tmp'].filter((path) => ours.ignores(path, false))).toEqual(['a.log', 'sub/keep', 'sub/own', 'b.tmp'])
    expect(ours.ignores('cache', true)).toBe(true)
    expect(ours.ignores('cache', false)).toBe(false)
  })
})
