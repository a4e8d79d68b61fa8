import { defaultRangeExtractor, elementScroll, measureElement, observeElementOffset, observeElementRect, Virtualizer, type Range, type VirtualItem } from '@tanstack/react-virtual'
import { useLayoutEffect, useReducer, useState } from 'react'
import { flushSync } from 'react-dom'

export interface ListOptions {
  readonly count: number
  readonly box: () => HTMLElement | null
  /** The same for as long as the items are the same: all of them are measured anew when it changes. */
  readonly keyOf: (item: number) => string
  /** First guess of an item's height in pixels; the real one is told by an observer once it is drawn. `measured`: of what was drawn, by its key, also of what is no item any more. */
  readonly heightOf: (item: number, measured: (key: string) => number | undefined) => number
  /** How many items are drawn on either side of what is in view; `leaps`: while it is scrolled by more than the view at a time. */
  readonly beside: (range: Range, leaps: boolean) => number
  /** An item that is drawn wherever one looks; null: there is none. Asked at each look. */
  readonly kept: () => number | null
  readonly startPx: number
  readonly endPx: number
}

/** What of a list is in the page, in order, and how much room in pixels the rest takes before and after it. Between two that are no neighbours there is room, too: from the end of one to the start of the other. */
export interface Drawn {
  readonly items: readonly VirtualItem[]
  readonly beforePx: number
  readonly afterPx: number
  /** For the `ref` of each item's element, which says its place in `data-index`. */
  readonly measure: (element: HTMLElement | null) => void
}

/** What a list drew last, and how it is being scrolled. */
class Drawing {
  #place = ''
  #leaps = false
  #offset = 0
  #list: List | null = null

  readonly measured = (key: string): number | undefined => this.#list?.itemSizeCache.get(key)

  of(list: List): void {
    this.#list = list
  }

  get leaps(): boolean {
    return this.#leaps
  }

  drew(place: string): void {
    this.#place = place
  }

  /** Whether drawing it anew would show. */
  differs(place: string): boolean {
    return place !== this.#place
  }

  /** A step that is longer than the view is high: what is beside the view is not seen on the way. */
  moved(offset: number, moves: boolean, viewPx: number): void {
    this.#leaps = moves && Math.abs(offset - this.#offset) > viewPx
    this.#offset = offset
  }
}

/**
 * The items of a long list that are in view or near it. As `useVirtualizer` of the library this goes by, but what is drawn is drawn anew only when
 * that shows: not for each step of scrolling, nor for a height that moves nothing. No height is asked for while React writes to
 * the page, which would have the browser lay it out then and once more before it paints.
 */
export function useDrawnItems({ count, box, keyOf, heightOf, beside, kept, startPx, endPx }: ListOptions): Drawn {
  const [, drawAnew] = useReducer((drawn: number) => drawn + 1, 0)
  const [drawing] = useState(() => new Drawing())
  const options = {
    count, getScrollElement: box, getItemKey: keyOf, estimateSize: (item: number) => heightOf(item, drawing.measured), paddingStart: startPx, paddingEnd: endPx,
    scrollToFn: elementScroll, observeElementRect,
    observeElementOffset: (list: List, tell: (offset: number, moves: boolean) => void) => observeElementOffset(list, (offset, moves) => {
      drawing.moved(offset, moves, list.scrollRect?.height ?? 0)
      // The library keeps what is drawn for as long as the range in view and this are the same.
      list.options.overscan = drawing.leaps ? 0 : 1
      tell(offset, moves)
    }),
    overscan: drawing.leaps ? 0 : 1,
    rangeExtractor: (range: Range) => withKept(defaultRangeExtractor({ ...range, overscan: beside(range, drawing.leaps) }), kept()),
    measureElement: (element: HTMLElement, entry: ResizeObserverEntry | undefined, list: List) => (entry === undefined ? knownHeight(element, list) : measureElement(element, entry, list)),
    onChange: (list: List, inTime: boolean) => {
      if (!drawing.differs(placeOf(list))) return
      if (inTime) flushSync(drawAnew)
      else drawAnew()
    },
  }
  const [list] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options))
  drawing.of(list)
  list.setOptions(options)
  const items = list.getVirtualItems()
  const place = placeOf(list)
  // eslint-disable-next-line react-hooks/exhaustive-deps -- once: what it gives ends the list
  useLayoutEffect(() => list._didMount(), [])
  useLayoutEffect(() => {
    drawing.drew(place)
    list._willUpdate()
  })
  return { items, beforePx: beforeOf(items), afterPx: afterOf(items, list), measure: list.measureElement }
}

type List = Virtualizer<HTMLElement, HTMLElement>

/** The height that was measured, or else guessed. */
function knownHeight(element: HTMLElement, list: List): number {
  const item = list.indexFromElement(element)
  return list.itemSizeCache.get(list.options.getItemKey(item)) ?? list.measurementsCache[item]?.size ?? list.options.estimateSize(item)
}

/** One more item, at its place. */
function withKept(items: number[], kept: number | null): number[] {
  return kept === null || items.includes(kept) ? items : [...items, kept].toSorted((one, other) => one - other)
}

function beforeOf(items: readonly VirtualItem[]): number {
  return items[0]?.start ?? 0
}

function afterOf(items: readonly VirtualItem[], list: List): number {
  return list.getTotalSize() - (items.at(-1)?.end ?? 0)
}

/** All of a list that shows. */
function placeOf(list: List): string {
  const items = list.getVirtualItems()
  const gaps = items.flatMap(({ index, start }, at) => { const before = items[at - 1]; return before === undefined || before.index === index - 1 ? [] : [before.index, index, start - before.end] })
  return [items[0]?.index, items.at(-1)?.index, beforeOf(items), afterOf(items, list), ...gaps].join(' ')
}
