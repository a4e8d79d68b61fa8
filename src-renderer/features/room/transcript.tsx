import type { Range } from '@tanstack/react-virtual'
import { ArrowDown, MessagesSquare } from 'lucide-react'
import { Fragment, memo, useCallback, useLayoutEffect, useRef, useState, useSyncExternalStore, type ReactNode, type RefObject } from 'react'
import type { EntryBody } from '../../../src-preload/contract/rows.ts'
import { t } from '../../i18n/text.ts'
import { useEntryKeys, useRoom } from '../../store/hooks.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/notice.tsx'
import { blockRows, Blocks } from './blocks.ts'
import { useDrawnItems } from './drawn-items.ts'
import { EndFollower } from './end-follower.ts'
import { jumpEvent } from './jump.ts'
import { KeptFocus } from './kept-focus.ts'
import { EntryRowView } from './rows/entry-row.tsx'

/** Up to this many rows all are in the page, so that find-in-page and screen readers see the whole; beyond, only what is near the view. */
const wholeRowsMax = 200
const overscanRows = 8
/** Below the last row. */
const endPx = 24

/** First guess of a row's height; the real one is measured when it is drawn. */
const heightsPx: Readonly<Record<EntryBody['is'], number>> = {
  message: 34, brief: 360, question: 120, answer: 72, tool: 44, hold: 28, evidence: 200, verification: 200, review: 120, decision: 88, applied: 44, call: 26, status: 28, notice: 56,
}
const lineChars = 120
const linePx = 20

/** Of a message, by its length: each guess that is off moves what was drawn, and nothing is as many. */
function guessedHeight(body: EntryBody | undefined): number {
  if (body === undefined) return heightsPx.message + linePx
  if (body.is !== 'message') return heightsPx[body.is]
  return body.reasoning ? heightsPx.call : heightsPx.message + linePx * Math.ceil(body.text.length / lineChars)
}

/** How many items are drawn on either side of what is in view: none of them where one leaps through a long transcript, since the next step takes them away unseen. */
function itemsBeside(range: Range, leaps: boolean, rows: number, blocks: Blocks): number {
  if (rows <= wholeRowsMax) return wholeRowsMax
  if (leaps) return 0
  return blocks.isBlock(range.startIndex) ? overscanRows / blockRows : overscanRows
}

interface SlotProps {
  readonly index: number
  readonly rows: readonly string[]
  readonly previousKey: string | null
  readonly measure: (element: HTMLElement | null) => void
}

/** An item of the list: its rows, of which the first follows `previousKey`. Drawn anew only when it has other rows or another place. */
// eslint-disable-next-line words/memo-speaks -- it has no words of its own; its rows draw theirs anew
const Slot = memo(function Slot({ index, rows, previousKey, measure }: SlotProps): ReactNode {
  return (
    <div data-index={index} ref={measure} className="transcript-slot">
      {rows.map((key, place) => <EntryRowView key={key} rowKey={key} previousKey={rows[place - 1] ?? previousKey} />)}
    </div>
  )
}, (one, other) => one.index === other.index && one.previousKey === other.previousKey && one.measure === other.measure && one.rows.length === other.rows.length && one.rows.every((key, place) => key === other.rows[place]))

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
  const drawnRows = useRef(0)
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
    const came = rows - drawnRows.current
    drawnRows.current = rows
    // A few new rows are drawn where they belong, and the follower hears of them when they are laid out. Of many, only those at the end are drawn, once that is in view.
    if (came < 1 || came > overscanRows) follower.pin()
  })
  return { box, content, atEnd, unseen: follower.unseen(rows), toEnd: follower.toEnd }
}

/** The row that has the keyboard's focus, as an item that is kept drawn. */
function useKeptFocus(box: RefObject<HTMLDivElement | null>, blocks: Blocks): () => number | null {
  const [kept] = useState(() => new KeptFocus())
  const near = useRef(0)
  useLayoutEffect(() => (box.current === null ? undefined : kept.attach(box.current)), [box, kept])
  useLayoutEffect(() => {
    if (box.current !== null) kept.restore(box.current)
  })
  return useCallback(() => {
    const place = kept.rowKey === null ? null : blocks.itemOf(kept.rowKey, near.current)
    if (place !== null) near.current = place.row
    return place?.item ?? null
  }, [kept, blocks])
}

/** The room's one ordered log for a task. Sticks to its end until the owner scrolls up. */
export function Transcript({ taskId }: { readonly taskId: string }): ReactNode {
  const keys = useEntryKeys(taskId)
  const room = useRoom()
  const { box, content, atEnd, unseen, toEnd } = useFollowing(keys.length)
  const [blocks] = useState(() => new Blocks((key) => guessedHeight(room.rows.entry(key)?.body)))
  blocks.take(keys)
  const kept = useKeptFocus(box, blocks)
  // eslint-disable-next-line react-hooks/exhaustive-deps -- what the blocks say changes with the keys
  const keyOf = useCallback((item: number) => blocks.key(item), [blocks, keys])
  const { items, beforePx, afterPx, measure } = useDrawnItems({
    count: blocks.count, box: () => box.current, keyOf, heightOf: (item, measured) => blocks.height(item, measured), kept, beside: (range, leaps) => itemsBeside(range, leaps, keys.length, blocks), startPx: 16, endPx,
  })
  return (
    <div className="transcript-frame">
      {/* Rows that come into view by scrolling are not news, so the log is silent while one reads back. */}
      <div ref={box} className="transcript" role="log" aria-label={t.room.transcript} aria-live={atEnd ? 'polite' : 'off'} aria-relevant="additions" tabIndex={0}>
        {keys.length === 0 ? <Empty icon={MessagesSquare} title={t.room.empty} /> : null}
        {/* Room for what is not drawn, around what is: a row that is not as high as was guessed is laid out once, and nothing is moved after it. */}
        <div ref={content} style={{ paddingTop: beforePx, paddingBottom: afterPx }}>
          {items.map(({ key, index, start }, at) => {
            const before = items[at - 1]
            return (
              <Fragment key={key}>
                {before === undefined || before.index === index - 1 ? null : <div aria-hidden style={{ height: start - before.end }} />}
                <Slot index={index} {...blocks.rowKeys(index)} measure={measure} />
              </Fragment>
            )
          })}
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
