import type { TaskId } from '../../src-preload/contract/ids.ts'
import { linkedTaskIn } from './deep-link.ts'
import type { IncomingLinks } from './incoming-links.ts'

/** Of more at once the oldest go: what stays on screen is the last one's. */
const waitingMax = 16

/** Links that came, in their order, until the window takes them one by one: a window that still loads finds them there. */
export class LinkDesk {
  readonly #waiting: TaskId[] = []

  constructor(links: IncomingLinks, onWaiting: () => void) {
    links.follow((args) => {
      const taskId = linkedTaskIn(args)
      if (taskId === null) return
      this.#waiting.push(taskId)
      if (this.#waiting.length > waitingMax) this.#waiting.shift()
      onWaiting()
    })
  }

  /** The one that has waited longest; null when none waits. */
  take(): TaskId | null {
    return this.#waiting.shift() ?? null
  }
}
