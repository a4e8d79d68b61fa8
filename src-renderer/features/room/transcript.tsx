import { defaultRangeExtractor, useVirtualizer, type Range } from '@tanstack/react-virtual'
import { ArrowDown, MessagesSquare } from 'lucide-react'
import { useCallback, useLayoutEffect, useRef, useState, useSyncExternalStore, type ReactNode, type RefObject } from 'react'
import type { EntryBody } from '../../../src-preload/contract/rows.ts'
import { t } from '../../i18n/text.ts'
import { useEntryKeys, useRoom } from '../../store/hooks.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/notice.tsx'
import { blockRows, Blocks } from './blocks.ts'
import { EndFollower } from './end-follower.ts'
import { jumpEvent } from './jump.ts'
import { EntryRowView } from './rows/entry-row.tsx'

/** Up to this many rows all are in the page, so that find-in-page and screen readers see the whole; beyond, only what is near the view. */
const wholeRowsMax = 200
const overscanRows = 8
/** Below the last row. */
const endPx = 24

/** First guess of a row's height; the real one is measured when it is drawn. */
const heightsPx: Readonly<Record<EntryBody['is'], number>> = {
  message: 72, brief: 360, question: 120, answer: 72, tool: 44, hold: 28, evidence: 200, verification: 200, review: 120, decision: 88, applied: 44, call: 26, status: 28, notice: 56,
}

/** What is drawn beside what is in view. */
function withOverscan(range: Range, rows: number, blocks: Blocks): Range {
  if (rows <= wholeRowsMax) return { ...range, overscan: wholeRowsMax }
  return { ...range, overscan: blocks.isBlock(range.startIndex) ? overscanRows / blockRows : overscanRows }
}

function Rows({ keys, rows: [from, to] }: { readonly keys: readonly string[]; readonly rows: readonly [number, number] }): ReactNode {
  return keys.slice(from, to).map((key, index) => <EntryRowView key={key} rowKey={key} previousKey={keys[from + index - 1] ?? null} />)
}

interface Following {
  readonly box: RefObject<HTMLDivElement | null>
  readonly content: RefObject<HTMLDivElement | null>
  readonly atEnd: boolean
  /** Rows that came since the owner scrolled away from the end. */
  readonly unseen: number
  readonly toEnd: () => void
}

function useFollowing(rows: number): Following {
  const box = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const [follower] = useState(() => new EndFollower())
  const atEnd = useSyncExternalStore(follower.subscribe, follower.atEnd)
  const [seenRows, setSeenRows] = useState(rows)
  if (atEnd && seenRows !== rows) setSeenRows(rows)
  useLayoutEffect(() => {
    if (box.current === null || content.current === null) return
    window.addEventListener(jumpEvent, follower.toEnd)
    const detach = follower.attach(box.current, content.current)
    return () => {
      detach()
      window.removeEventListener(jumpEvent, follower.toEnd)
    }
  }, [follower])
  useLayoutEffect(() => {
    follower.pin()
  })
  return { box, content, atEnd, unseen: Math.max(0, rows - seenRows), toEnd: follower.toEnd }
}

/** The room's one ordered log for a task. Sticks to its end until the owner scrolls up. */
export function Transcript({ taskId }: { readonly taskId: string }): ReactNode {
  const keys = useEntryKeys(taskId)
  const room = useRoom()
  const { box, content, atEnd, unseen, toEnd } = useFollowing(keys.length)
  const [blocks] = useState(() => new Blocks((key) => heightsPx[room.rows.entry(key)?.body.is ?? 'message']))
  blocks.take(keys)
  // The same function as long as the rows are the same: the virtualizer measures all of them anew when it changes.
  // eslint-disable-next-line react-hooks/exhaustive-deps -- what the blocks say changes with the keys
  const keyAt = useCallback((item: number) => blocks.key(item), [blocks, keys])
  // eslint-disable-next-line react-hooks/incompatible-library -- the React compiler is not used
  const virtualizer = useVirtualizer({
    count: blocks.count,
    getScrollElement: () => box.current,
    estimateSize: (item) => blocks.height(item),
    getItemKey: keyAt,
    rangeExtractor: (range) => defaultRangeExtractor(withOverscan(range, keys.length, blocks)),
    paddingStart: 16,
    paddingEnd: endPx,
  })
  const items = virtualizer.getVirtualItems()
  return (
    <div className="transcript-frame">
      {/* Rows that come into view by scrolling are not news, so the log is silent while one reads back. */}
      <div ref={box} className="transcript" role="log" aria-label={t.room.transcript} aria-live={atEnd ? 'polite' : 'off'} aria-relevant="additions" tabIndex={0}>
        {keys.length === 0 ? <Empty icon={MessagesSquare} title={t.room.empty} /> : null}
        {/* Room for what is not drawn, around what is: a row that is not as high as was guessed is laid out once, and nothing is moved after it. */}
        <div ref={content} style={{ paddingTop: items[0]?.start ?? 0, paddingBottom: virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0) }}>
          {items.map((item) => (
            <div key={item.key} data-index={item.index} ref={virtualizer.measureElement} className="transcript-slot">
              <Rows keys={keys} rows={blocks.rows(item.index)} />
            </div>
          ))}
        </div>
      </div>
      {atEnd || keys.length === 0 ? null : (
        <div className="transcript-jump">
          <Button size="small" icon={ArrowDown} chord="mod+end" tip={t.room.jump} onPress={toEnd}>
            {unseen > 0 ? `${t.room.jump} · ${t.room.newRows({ n: unseen })}` : t.room.jump}
          </Button>
        </div>
      )}
    </div>
  )
}
