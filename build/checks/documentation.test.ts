import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openJournal } from '../../src-main/adapters/sqlite/open.ts'
import { failureCodes } from '../../src-preload/contract/failure.ts'
import { packagedRunners, verifyRunners } from './runners.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const documents = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', ...readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)]

/** They measure, search for hours, or show something to a person; of each, a share or the parts are run by a check. */
const forPeople = ['bench', 'demo', 'fuzz', 'fuzz-envelopes', 'make', 'mutation', 'pictures', 'storybook']

describe('the documentation', () => {
  it('explains every code that a person can meet', () => {
    const explained = new Set([...read('docs/troubleshooting.md').matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, code]) => code)))
    expect(failureCodes.filter((code) => !explained.has(code))).toEqual([])
  })

  it.each(documents)('names only commands that there are: %s', (path) => {
    const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> }
    const named = [...read(path).matchAll(/npm (?:run )?([a-z0-9-]+)/g)].map(([, name = '']) => name)
    expect(named.filter((name) => name !== 'ci' && !Object.hasOwn(scripts, name))).toEqual([])
  })

  it.each(['README.md', 'SECURITY.md'])('says of Windows and macOS what the app says there: %s', (path) => {
    const wslWords = /WSL 2 with this sandbox inside it and interop off/
    expect(read('src-main/adapters/sandbox/unavailable-sandbox.ts')).toMatch(wslWords)
    expect(read(path)).toMatch(wslWords)
    expect([read('src-main/adapters/sandbox/seatbelt-sandbox.ts'), read(path)].map((text) => /macOS[^\n]*(?:untested|never tested)/.test(text))).toEqual([true, true])
  })

  it('measures each figure of the README by a benchmark that there is', () => {
    const named = [...read('README.md').matchAll(/^\|.*\| `([a-z-]+)` \|$/gm)].map(([, name = '']) => name)
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((name) => !existsSync(join(root, 'build/bench', `${name}.ts`)))).toEqual([])
  })

  it('names only flags that the commands know', () => {
    const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> }
    const named = documents.flatMap((path) => [...read(path).matchAll(/npm run ([a-z-]+) -- ([^`\n]*--[^`\n]*)/g)]).flatMap(([, name = '', words = '']) => [...words.matchAll(/--([a-z-]+)/g)].map(([, flag = '']) => ({ name, flag })))
    expect(named.length).toBeGreaterThan(2)
    expect(named.filter(({ name, flag }) => !sourcesOf(scripts[name] ?? '').some((text) => new RegExp(`['\\s-]${flag}['\\s:]`).test(text)))).toEqual([])
  })

  it('names no command that nothing runs', () => {
    const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> }
    const named = new Set(documents.flatMap((path) => [...read(path).matchAll(/npm (?:run )?([a-z0-9-]+)/g)].map(([, name = '']) => name)).filter((name) => name !== 'ci'))
    const run = new Set([...verifyRunners, ...packagedRunners].map(({ script }) => script))
    const outside = [read('.ci/run'), ...readdirSync(join(root, '.github/workflows')).map((name) => read(`.github/workflows/${name}`))].join('\n')
    const tests = ['build', 'e2e', 'src-main'].flatMap((folder) => readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((name) => /\.(test|spec|accept)\.ts$/.test(name)).map((name) => read(join(folder, name)))).join('\n')
    const isRun = (name: string): boolean => run.has(name) || new RegExp(`npm (run )?${name}\\b`).test(outside) || tests.includes(`'npm', ['${name}'`) || tests.includes(/^node (\S+)/.exec(scripts[name] ?? '')?.[1] ?? `no file of ${name}`)
    expect([...named].filter((name) => !isRun(name)).sort()).toEqual([...forPeople].sort())
  })

  it('leads to files that there are, and shows pictures that one command makes', () => {
    const links = documents.flatMap((path) => [...read(path).matchAll(/(?:\]\(|src(?:set)?=")(?!https?:)([^)#"]+)/g)].map(([, target = '']) => join(dirname(path), target)))
    expect(links.length).toBeGreaterThan(15)
    expect(links.filter((path) => !existsSync(join(root, path)))).toEqual([])
    const pictures = readdirSync(join(root, 'docs/pictures'))
    expect(pictures.filter((name) => !links.includes(`docs/pictures/${name}`))).toEqual([])
    const made = [...read('e2e/pictures.ts').matchAll(/take\(app, '([a-z-]+)'\)/g)].flatMap(([, name = '']) => [`${name}-light.png`, `${name}-dark.png`])
    expect([...pictures].sort()).toEqual(made.sort())
  })

  it('says of countersign-proxy what it says of itself', () => {
    const help = spawnSync(process.execPath, [join(root, 'src-main/proxy/countersign-proxy.ts'), '--help'], { encoding: 'utf8' })
    expect(help.status, help.stderr).toBe(0)
    const flags = [...read('docs/proxy.md').matchAll(/(?:countersign-proxy|npm run proxy --) (--[a-z-]+)/g)].map(([, flag = '']) => flag)
    expect(flags).toContain('--config')
    expect(flags.filter((flag) => !help.stdout.includes(flag))).toEqual([])
  })

  it('checks an export by the command that the audit page names, head and all', async () => {
    expect(read('docs/audit.md')).toContain('node verify-export.mjs EXPORT.jsonl [--head sha256:')
    const scratch = mkdtempSync(join(tmpdir(), 'documented-'))
    try {
      copyFileSync(join(root, 'build/release/journals/0.1.0.sqlite'), join(scratch, 'journal.sqlite'))
      const journal = openJournal({ path: join(scratch, 'journal.sqlite'), clock: { now: () => 1_900_000_000_000 } })
      if (!journal.ok) throw new Error(journal.error.message)
      const toPath = join(scratch, 'export.jsonl')
      expect(await journal.value.exportJsonl({ toPath, taskId: null, at: 1_900_000_000_000, versions: { app: '0.1.0' } })).toMatchObject({ ok: true })
      const { headHash } = journal.value.facts()
      journal.value.close()
      const checked = (...head: string[]): number | null => spawnSync(process.execPath, [join(root, 'build/verify-export.mjs'), toPath, ...head]).status
      expect([checked(), checked('--head', headHash)]).toEqual([0, 0])
      expect(checked('--head', `sha256:${'0'.repeat(64)}`)).not.toBe(0)
    } finally {
      rmSync(scratch, { recursive: true, force: true })
    }
  })
})

/** The command's own file and what stands beside it. */
function sourcesOf(script: string): readonly string[] {
  const file = /^node (\S+)/.exec(script)?.[1]
  if (file === undefined) return []
  const folder = join(root, dirname(file))
  return readdirSync(folder).filter((name) => name.endsWith('.ts')).map((name) => readFileSync(join(folder, name), 'utf8'))
}
