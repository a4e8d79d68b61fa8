import { CodeView, WorkerPoolContext, type CodeViewHandle } from '@pierre/diffs/react'
import { FileCheck2, FileX2 } from 'lucide-react'
import { useEffect, useImperativeHandle, useMemo, useRef, type ReactNode, type Ref } from 'react'
import type { Review } from '../../../src-preload/contract/methods.ts'
import { useSpoken } from '../../i18n/language.ts'
import { translated } from '../../i18n/language.ts'
import { t } from '../../i18n/text.ts'
import { useMedia } from '../../ui/media.ts'
import { useMethod } from '../../store/queries.ts'
import { Empty, FailureNotice, Notice } from '../../ui/notice.tsx'
import { ExactText } from '../../ui/pieces.tsx'
import { codeThemes } from '../../ui/code-themes.ts'
import { useDiffPool } from './diff-pool.ts'
import { misleadingFiles } from './misleading.ts'
import { parsedFiles } from './parsed-files.ts'

/** Lets the tree bring a file into view. */
export interface DiffPaneHandle {
  readonly showFile: (path: string) => void
}

export interface DiffOptions {
  readonly style: 'unified' | 'split'
  readonly wrap: boolean
}

type ReviewFile = Review['files'][number]

/** The diff of every file, one under the other; only what is in view is drawn. */
export function DiffPane({ files, notes, options, ref }: { readonly files: readonly ReviewFile[]; readonly notes: readonly string[]; readonly options: DiffOptions; readonly ref: Ref<DiffPaneHandle> }): ReactNode {
  const viewer = useRef<CodeViewHandle<undefined, undefined>>(null)
  const { items, broken } = useMemo(() => parsedFiles(files), [files])
  const pool = useDiffPool()
  const themeType = useThemeType()
  const container = useRef<HTMLDivElement>(null)
  const { tag } = useSpoken()
  useImperativeHandle(ref, () => ({
    showFile: (path) => {
      viewer.current?.scrollTo({ type: 'item', id: path, align: 'start', behavior: 'instant' })
    },
  }))
  useEffect(() => {
    // The viewer's own scroll box: reachable by keyboard, and named.
    const box = container.current
    if (box === null) return
    box.tabIndex = 0
    box.setAttribute('role', 'region')
    box.setAttribute('aria-label', t.review.diff)
  }, [tag])
  const viewOptions = useMemo(
    () => ({ theme: codeThemes, themeType, diffStyle: options.style, overflow: options.wrap ? ('wrap' as const) : ('scroll' as const), stickyHeaders: true, onPostRender: reachable, diffIndicators: 'bars' as const, hunkSeparators: 'line-info' as const, layout: { paddingTop: 0, paddingBottom: 24, gap: 12 } }),
    [themeType, options.style, options.wrap],
  )
  return (
    <div className="diff-pane">
      <DiffNotices files={files} broken={broken} notes={notes} />
      {files.length === 0 ? <Empty icon={FileCheck2} title={t.review.noChange}>{t.review.noChangeHint}</Empty> : items.length === 0 ? <Empty icon={FileX2} title={t.review.noText} /> : (
      <WorkerPoolContext value={pool}>
        <CodeView ref={viewer} containerRef={container} className="diff-view" items={items} options={viewOptions} />
      </WorkerPoolContext>
      )}
    </div>
  )
}

/** Long lines scroll sideways; the box that scrolls must be reachable by keyboard. */
function reachable(node: HTMLElement): void {
  for (const box of node.shadowRoot?.querySelectorAll<HTMLElement>('code[data-code]') ?? []) box.tabIndex = 0
}

function DiffNotices({ files, broken, notes }: { readonly files: readonly ReviewFile[]; readonly broken: readonly string[]; readonly notes: readonly string[] }): ReactNode {
  const misleading = useMemo(() => misleadingFiles(files), [files])
  const unseen = files.filter(({ patch }) => patch === null).map(({ change }) => change.path)
  if (misleading.length + unseen.length + broken.length + notes.length === 0) return null
  return (
    <div className="diff-notices">
      {misleading.length === 0 ? null : (
        <Notice tone="warn" title={t.review.misleading}>
          <span className="mono">{misleading.join(', ')}</span>
        </Notice>
      )}
      {unseen.length === 0 ? null : (
        <Notice title={t.review.notShown}>
          <span className="mono">{unseen.join(', ')}</span>
        </Notice>
      )}
      {notes.length === 0 ? null : (
        <Notice title={t.review.leftOut}>
          <ul className="notes">
            {notes.map((note) => <li key={note}><ExactText text={translated(note)} strictness="prose" /></li>)}
          </ul>
        </Notice>
      )}
      {broken.length === 0 ? null : <FailureNotice failure={{ code: 'evidence-failed', message: `${t.review.unreadable} ${broken.join(', ')}`, todo: t.review.unreadableTodo }} />}
    </div>
  )
}

function useThemeType(): 'light' | 'dark' {
  const settings = useMethod('settings.get', {})
  const dark = useMedia('(prefers-color-scheme: dark)')
  const theme = settings.data?.appearance.theme ?? 'system'
  return theme === 'system' ? (dark ? 'dark' : 'light') : theme
}
