import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { words as shell } from '../../src-words/en/shell.ts'
import { words as window } from '../../src-words/en/window.ts'
import type { MessageTree } from '../../src-words/message.ts'

const root = resolve(import.meta.dirname, '../..')

/** The names that follow `t` at each place of a file: `t.room.stop` as `room.stop`, `t.status[status]` as `status`. */
function readIn(path: string): readonly string[] {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && node.text === 't' && ts.isPropertyAccessExpression(node.parent) && node.parent.expression === node) {
      const names: string[] = []
      for (let at: ts.Node = node.parent; ts.isPropertyAccessExpression(at); at = at.parent) names.push(at.name.text)
      found.push(names.join('.'))
    }
    if (ts.isQualifiedName(node)) return
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

function ids(tree: MessageTree, prefix = ''): readonly string[] {
  return Object.entries(tree).flatMap(([name, node]) => (typeof node === 'string' ? [prefix + name] : ids(node, `${prefix}${name}.`)))
}

it.each([['the window', window, 'src-renderer'], ['the shell', shell, 'src-main/shell']] as const)('every word of %s is read somewhere, so that none stays when its place has gone', (_, words, folder) => {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path) && !path.startsWith('dev'))
  const read = new Set(files.flatMap((path) => readIn(join(root, folder, path))))
  // What is read as a group, or by a name that is only known at the moment, counts for all that is in it.
  const isRead = (id: string): boolean => id.split('.').some((_name, at, names) => read.has(names.slice(0, at + 1).join('.')))
  expect(ids(words).filter((id) => !isRead(id))).toEqual([])
})
