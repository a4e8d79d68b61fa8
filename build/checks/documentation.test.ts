import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { failureCodes } from '../../src-preload/contract/failure.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

describe('the documentation', () => {
  it('explains every code that a person can meet', () => {
    const explained = new Set([...read('docs/troubleshooting.md').matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, code]) => code)))
    expect(failureCodes.filter((code) => !explained.has(code))).toEqual([])
  })

  it.each(['README.md', 'ARCHITECTURE.md', 'docs/guide.md', 'docs/audit.md', 'docs/protocol.md', 'docs/packages.md', 'CONTRIBUTING.md'])('names only commands that there are: %s', (path) => {
    const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> }
    const named = [...read(path).matchAll(/npm (?:run )?([a-z0-9-]+)/g)].map(([, name = '']) => name)
    expect(named.filter((name) => name !== 'ci' && !Object.hasOwn(scripts, name))).toEqual([])
  })
})
