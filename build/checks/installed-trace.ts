import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'

/** Path → what is there: a folder, a link's target, a file's size and digest. */
export type Tree = ReadonlyMap<string, string>

/** What package tools write on any install and removal, whatever the package: logs, their own lists and their backups. */
const ownBooks = [/^\/var\/(log|cache|lib\/dpkg|lib\/apt)(\/|$)/, /^\/(proc|dev|tmp|sys|run)(\/|$)/, /^\/etc\/(resolv\.conf|hosts|ld\.so\.cache)$/]

/** Everything in a system tree but what its package tools keep book with. Folders count too: an empty one that is left is a trace. */
export function treeOf(root: string): Tree {
  const found = new Map<string, string>()
  const visit = (path: string): void => {
    for (const name of readdirSync(join(root, path))) {
      const inside = `${path}/${name}`
      if (ownBooks.some((pattern) => pattern.test(inside))) continue
      const entry = lstatSync(join(root, inside))
      found.set(inside, entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? `→ ${readlinkSync(join(root, inside))}` : entry.isFile() ? digest(join(root, inside)) : 'special')
      if (entry.isDirectory()) visit(inside)
    }
  }
  visit('')
  return found
}

/** What differs between two trees outside of the folder `but`. */
export function traceOf(before: Tree, after: Tree, but: string): readonly string[] {
  const changed = [...after].filter(([path, what]) => before.get(path) !== what).map(([path]) => `${before.has(path) ? 'changed' : 'left behind'}: ${path}`)
  const gone = [...before.keys()].filter((path) => !after.has(path)).map((path) => `gone: ${path}`)
  return [...changed, ...gone].filter((line) => !line.includes(` ${but}`))
}

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
