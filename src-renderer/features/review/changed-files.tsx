import { ChevronRight, Folder } from 'lucide-react'
import { useMemo, type ReactNode } from 'react'
import { Button as AriaButton, Tree, TreeItem, TreeItemContent } from 'react-aria-components'
import type { FileChange } from '../../../src-preload/contract/task.ts'
import { t } from '../../i18n/text.ts'
import { count } from '../../ui/format.ts'
import { ExactText } from '../../ui/pieces.tsx'
import { fileTree, folderPaths, type TreeNode } from './file-tree.ts'

const signs: Readonly<Record<FileChange['status'], readonly [string, string]>> = { added: ['A', 'good'], modified: ['M', 'warn'], deleted: ['D', 'bad'] }

/** The changed files as a tree; choosing one brings its diff into view. */
export function ChangedFiles({ files, onShow }: { readonly files: readonly FileChange[]; readonly onShow: (path: string) => void }): ReactNode {
  const tree = useMemo(() => fileTree(files), [files])
  const folders = useMemo(() => folderPaths(tree), [tree])
  return (
    <Tree
      className="file-tree"
      aria-label={t.row.changedFiles}
      selectionMode="single"
      selectionBehavior="replace"
      defaultExpandedKeys={folders}
      onSelectionChange={(keys) => {
        const key = keys === 'all' ? undefined : [...keys][0]
        if (typeof key === 'string' && files.some((file) => file.path === key)) onShow(key)
      }}
    >
      {tree.map((node) => (
        <Node key={node.path} node={node} />
      ))}
    </Tree>
  )
}

function Node({ node }: { readonly node: TreeNode<FileChange> }): ReactNode {
  return (
    <TreeItem id={node.path} textValue={node.name} className="tree-item">
      <TreeItemContent>
        {({ hasChildItems, level }) => (
          <div className="tree-line" style={{ paddingInlineStart: `${((level - 1) * 14).toString()}px` }}>
            {hasChildItems ? (
              <AriaButton slot="chevron" className="tree-chevron">
                <ChevronRight className="icon icon-small" aria-hidden />
              </AriaButton>
            ) : null}
            {node.is === 'folder' ? <FolderLine name={node.name} /> : <FileEntry name={node.name} file={node.file} />}
          </div>
        )}
      </TreeItemContent>
      {node.is === 'folder' ? node.children.map((child) => <Node key={child.path} node={child} />) : null}
    </TreeItem>
  )
}

function FolderLine({ name }: { readonly name: string }): ReactNode {
  return (
    <>
      <Folder className="icon icon-small quiet" aria-hidden />
      <span className="clip soft">
        <ExactText text={name} strictness="command" />
      </span>
    </>
  )
}

function FileEntry({ name, file }: { readonly name: string; readonly file: FileChange }): ReactNode {
  const [sign, tone] = signs[file.status]
  return (
    <>
      <span className={`file-sign mono ${tone}`} title={file.status}>
        {sign}
      </span>
      <span className="clip grow" title={file.path}>
        <ExactText text={name} strictness="command" />
      </span>
      <span className="file-counts">
        {file.additions > 0 ? <span className="good">+{count(file.additions)}</span> : null}
        {file.deletions > 0 ? <span className="bad">−{count(file.deletions)}</span> : null}
      </span>
    </>
  )
}
