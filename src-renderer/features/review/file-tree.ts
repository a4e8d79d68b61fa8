/** A node of a file tree: a folder with children, or a file. `path` is whole; `name` is what is shown, `a/b` where a folder holds only one. */
export type TreeNode<T> = { readonly is: 'folder'; readonly path: string; readonly name: string; readonly children: readonly TreeNode<T>[] } | { readonly is: 'file'; readonly path: string; readonly name: string; readonly file: T }

interface Folder<T> {
  readonly folders: Map<string, Folder<T>>
  readonly files: { readonly name: string; readonly path: string; readonly file: T }[]
}

/** Folders before files, each by name; a folder whose only child is a folder is shown in one line with it. */
export function fileTree<T extends { readonly path: string }>(files: readonly T[]): readonly TreeNode<T>[] {
  const root: Folder<T> = { folders: new Map(), files: [] }
  for (const file of files) {
    const parts = file.path.split('/').filter((part) => part !== '')
    const name = parts.pop() ?? file.path
    let folder = root
    for (const part of parts) {
      const next = folder.folders.get(part) ?? { folders: new Map<string, Folder<T>>(), files: [] }
      folder.folders.set(part, next)
      folder = next
    }
    folder.files.push({ name, path: file.path, file })
  }
  return nodes(root, '')
}

function nodes<T>(folder: Folder<T>, prefix: string): TreeNode<T>[] {
  const folders = [...folder.folders].sort(([a], [b]) => compare(a, b)).map(([name, child]) => folderNode(name, child, prefix))
  const files = [...folder.files].sort((a, b) => compare(a.name, b.name)).map((file): TreeNode<T> => ({ is: 'file', ...file }))
  return [...folders, ...files]
}

function folderNode<T>(name: string, folder: Folder<T>, prefix: string): TreeNode<T> {
  const path = `${prefix}${name}`
  const [only] = folder.folders
  if (only !== undefined && folder.folders.size === 1 && folder.files.length === 0) return folderNode(`${name}/${only[0]}`, only[1], prefix)
  return { is: 'folder', path, name, children: nodes(folder, `${path}/`) }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Paths of all folders, for a tree that starts out open. */
export function folderPaths<T>(tree: readonly TreeNode<T>[]): readonly string[] {
  return tree.flatMap((node) => (node.is === 'folder' ? [node.path, ...folderPaths(node.children)] : []))
}
