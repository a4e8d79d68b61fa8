import { app, Notification, type BrowserWindow } from 'electron'
import type { Notifier } from '../engine/ports.ts'

/** Says outside the window that something waits for the owner: a count and no content, since a lock screen may show it. */
export function waitingNotifier(window: () => BrowserWindow | null): Notifier {
  let last = 0
  return {
    holdWaiting: (count) => {
      const more = count > last
      last = count
      app.setBadgeCount(count)
      const shown = window()
      if (!more || shown === null || shown.isDestroyed() || shown.isFocused() || !Notification.isSupported()) return
      const notification = new Notification({ title: 'Countersign', body: count === 1 ? 'One approval waits for you.' : `${count} approvals wait for you.` })
      notification.on('click', () => { shown.show(); shown.focus() })
      notification.show()
    },
  }
}
