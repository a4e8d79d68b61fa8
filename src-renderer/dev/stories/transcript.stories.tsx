import type { Meta, StoryObj } from '@storybook/react-vite'
import type { EntryRow } from '../../../src-preload/contract/rows.ts'
import { Transcript } from '../../features/room/transcript.tsx'
import { entry, task, toolBody } from '../fixtures.ts'
import { playedMain } from '../storybook/stage.tsx'

const id = 'task-1'

/** A transcript of so many rows that only what is near the view is drawn. */
const meta: Meta = { title: 'Room/Transcript', render: () => <div className="story-window"><Transcript taskId={id} /></div> }
export default meta

const call = (n: number): EntryRow => entry(id, 'coder', toolBody(`call_${n.toString()}`, 'edit', {}))
/** Of a height that nobody would guess. */
const said = (n: number): EntryRow => entry(id, 'coder', { is: 'message', text: Array.from({ length: 1 + (n * 7) % 9 }, (_, line) => `Row ${n.toString()}, line ${line.toString()}`).join('\n\n'), streaming: false, reasoning: false })

async function frames(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await new Promise(requestAnimationFrame)
}

function sees(what: unknown, expected: unknown, when: string): void {
  if (JSON.stringify(what) !== JSON.stringify(expected)) throw new Error(`${when}: expected ${JSON.stringify(expected)}, saw ${JSON.stringify(what)}`)
}

/** As an owner does who turns the wheel: the end is let go of. */
async function scrollBy(log: HTMLElement, px: number): Promise<void> {
  log.dispatchEvent(new WheelEvent('wheel', { deltaY: px, bubbles: true }))
  log.scrollTop += px
  await frames(4)
}

/** Old rows become blocks while one reads back: nothing moves. */
export const ReadingBack: StoryObj = {
  parameters: { scene: { rows: () => [task(id, 'A long transcript'), said(0)] } },
  play: async ({ canvas }) => {
    const log = await canvas.findByRole('log')
    // A few at a time, so that each is drawn and measured before it is old.
    for (let n = 1; n < 301; n += 6) {
      playedMain().push([0, 1, 2, 3, 4, 5].map((more) => said(n + more)))
      await frames(3)
    }
    await scrollBy(log, -2_000)
    const top = log.getBoundingClientRect().top
    const key = [...log.querySelectorAll<HTMLElement>('[data-key]')].find((row) => row.getBoundingClientRect().top > top)?.dataset['key'] ?? ''
    const place = (): number | null => { const row = log.querySelector(`[data-key="${key}"]`); return row === null ? null : Math.round(row.getBoundingClientRect().top) }
    const before = place()
    for (let n = 301; n < 321; n += 1) {
      playedMain().push([said(n)])
      await frames(3)
      sees(place(), before, `after row ${n.toString()}`)
    }
  },
}

/** The row that has the focus keeps it, scrolled away as far as one likes, and when it becomes one of a block. */
export const FocusIsKept: StoryObj = {
  parameters: { scene: { rows: () => [task(id, 'A long transcript'), ...Array.from({ length: 2_000 }, (_, n) => call(n))] } },
  play: async ({ canvas }) => {
    const log = await canvas.findByRole('log')
    await frames(4)
    const head = [...log.querySelectorAll<HTMLElement>('.tool-head-button')].at(-1)
    head?.focus()
    const focused = (): string | undefined => document.activeElement?.closest<HTMLElement>('[data-key]')?.dataset['key'] ?? document.activeElement?.tagName
    const key = head?.closest<HTMLElement>('[data-key]')?.dataset['key']
    for (const px of [-3_000, -30_000, -100_000, 50_000]) {
      await scrollBy(log, px)
      sees(focused(), key, `after ${px.toString()} px`)
    }
    const box = log.getBoundingClientRect()
    sees(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)?.closest('[data-key]') !== null, true, 'what is in view is drawn')
    playedMain().push(Array.from({ length: 260 }, (_, n) => call(2_000 + n)))
    await frames(4)
    sees(focused(), key, 'when it has become one of a block')
  },
}
