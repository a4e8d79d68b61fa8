import { useEffect, type RefObject } from 'react'
import type { HoldRow } from '../../../src-preload/contract/rows.ts'
import { call } from '../../bridge.ts'

/** Share of a card, or of the window where the card is taller, that must be in view before it counts as shown. */
const shownShareMin = 0.6
const thresholds = Array.from({ length: 11 }, (_, tenth) => tenth / 10)
/** A receipt that main could not record is given again after this time. */
const againAfterMs = 1_000

const reported = new Set<string>()

/**
 * Tells main that a hold was really on screen: drawn, in view, in a visible window, and a frame with it was painted.
 * Once for each id and digest.
 */
export function useShownReceipt(card: RefObject<HTMLElement | null>, row: HoldRow | undefined): void {
  const approvalId = row?.approvalId
  const digest = row?.digest
  const needed = row?.outcome === 'waiting' && row.shownAt === null
  useEffect(() => {
    const element = card.current
    if (element === null || !needed || approvalId === undefined || digest === undefined) return
    const key = `${approvalId} ${digest}`
    let inView = false
    let frame = 0
    let again: ReturnType<typeof setTimeout> | null = null
    let over = false
    const report = (): void => {
      if (!inView || document.visibilityState !== 'visible' || reported.has(key)) return
      reported.add(key)
      void call('approval.shown', { approvalId, digest }).then((result) => {
        if (result.ok) return
        reported.delete(key)
        if (!over) again = setTimeout(afterPaint, againAfterMs)
      })
    }
    // Two frames: the first one lays out and paints what this render made, the second begins after that frame was handed on.
    const afterPaint = (): void => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(() => {
        frame = requestAnimationFrame(report)
      })
    }
    const observer = new IntersectionObserver(
      (entries) => {
        inView = entries.some((entry) => entry.isIntersecting && isShown(entry))
        if (inView) afterPaint()
      },
      { threshold: thresholds },
    )
    observer.observe(element)
    document.addEventListener('visibilitychange', afterPaint)
    return () => {
      over = true
      observer.disconnect()
      document.removeEventListener('visibilitychange', afterPaint)
      cancelAnimationFrame(frame)
      if (again !== null) clearTimeout(again)
    }
  }, [card, approvalId, digest, needed])
}

function isShown({ intersectionRatio, intersectionRect, rootBounds }: IntersectionObserverEntry): boolean {
  return intersectionRatio >= shownShareMin || (rootBounds !== null && intersectionRect.height >= rootBounds.height * shownShareMin)
}
