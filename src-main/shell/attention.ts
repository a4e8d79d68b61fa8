import { app, Notification, type BrowserWindow } from 'electron'
import type { Settings } from '../../src-preload/contract/settings.ts'
import type { Notifier } from '../engine/ports.ts'
import { t } from './language.ts'
import { bringToFront } from './main-window.ts'
import { openTray, type WaitingTray } from './waiting-tray.ts'

/** Tells the owner outside the window that something waits, in the ways that the settings allow. */
export interface Attention extends Notifier {
  /** From now on these settings count; called once they are known. */
  follow(settings: () => Settings['attention']): void
  /** The settings were saved. */
  settingsChanged(): void
}

/**
 * A notification, a number on the app's icon, an icon in the system's tray. They hold a count and no content, since a lock screen may show
 * them, and none takes the focus: only the owner's click on one brings the window to the front.
 */
export function createAttention(window: () => BrowserWindow | null): Attention {
  let allowed: () => Settings['attention'] = () => ({ notify: false, badge: false, tray: false })
  let waiting = 0
  let tray: WaitingTray | null = null
  const toFront = (): void => { bringToFront(window()) }
  const draw = (): void => {
    const now = allowed()
    app.setBadgeCount(now.badge ? waiting : 0)
    if (!now.tray) { tray?.close(); tray = null; return }
    tray ??= openTray({ toFront, quit: () => { app.quit() } })
    tray?.show(waiting)
  }
  return {
    holdWaiting: (count) => {
      const more = count > waiting
      waiting = count
      draw()
      const shown = window()
      if (!more || !allowed().notify || shown === null || shown.isDestroyed() || shown.isFocused() || !Notification.isSupported()) return
      const notification = new Notification({ title: 'Countersign', body: t.waiting.notification })
      notification.on('click', toFront)
      notification.show()
    },
    follow: (settings) => { allowed = settings; draw() },
    settingsChanged: draw,
  }
}
