import type { TaskId } from '../../src-preload/contract/ids.ts'
import { linkedTaskIn } from './deep-link.ts'
import type { IncomingLinks } from './incoming-links.ts'

/** The last link that came, until the window takes it: a window that still loads finds it there. */
export class LinkDesk {
  #taskId: TaskId | null = null

  constructor(links: IncomingLinks, onWaiting: () => void) {
    links.follow((args) => {
      const taskId = linkedTaskIn(args)
      if (taskId === null) return
      this.#taskId = taskId
      onWaiting()
    })
  }

  take(): TaskId | null {
    const taskId = this.#taskId
    this.#taskId = null
    return taskId
  }
}
