import { describe, expect, it } from 'vitest'
import { fileTree, folderPaths } from './file-tree.ts'

const of = (...paths: string[]): ReturnType<typeof fileTree> => fileTree(paths.map((path) => ({ path })))

describe('fileTree', () => {
  it('puts folders before files and sorts both by name', () => {
    expect(of('z.ts', 'src/b.ts', 'a.ts', 'src/a.ts').map((node) => node.name)).toEqual(['src', 'a.ts', 'z.ts'])
  })

  it('shows a chain of folders in one line', () => {
    const [node] = of('packages/core/src/a.ts', 'packages/core/src/b.ts')
    expect(node).toMatchObject({ is: 'folder', name: 'packages/core/src', path: 'packages/core/src' })
    expect(node?.is === 'folder' ? node.children.map((child) => child.path) : []).toEqual(['packages/core/src/a.ts', 'packages/core/src/b.ts'])
  })

  it('does not join a folder that holds a file as well', () => {
    expect(folderPaths(of('a/x.ts', 'a/b/y.ts'))).toEqual(['a', 'a/b'])
  })

  it('keeps odd names as they are', () => {
    expect(of('a b/\u202Ex.ts').map((node) => node.path)).toEqual(['a b'])
  })
})
