import { Menu, nativeImage, Tray } from 'electron'
import { t } from './language.ts'

/** The icon in the system's tray. */
export interface WaitingTray {
  show(waiting: number): void
  close(): void
}

const sidePx = 32

/** Opens the icon; null where the system has no tray. `toFront` and `quit` are the owner's clicks. */
export function openTray(act: { readonly toFront: () => void; readonly quit: () => void }): WaitingTray | null {
  let tray: Tray
  try {
    tray = new Tray(iconOf(false))
  } catch (noTray) {
    console.error('no tray icon', String(noTray))
    return null
  }
  tray.setToolTip('Countersign')
  tray.on('click', act.toFront)
  return {
    show: (waiting) => {
      const words = waiting === 0 ? t.waiting.none : t.waiting.some({ n: waiting })
      tray.setImage(iconOf(waiting > 0))
      tray.setToolTip(waiting === 0 ? 'Countersign' : `Countersign: ${words}`)
      if (process.platform === 'darwin') tray.setTitle(waiting === 0 ? '' : String(waiting))
      tray.setContextMenu(Menu.buildFromTemplate([
        { label: t.waiting.show, click: act.toFront }, { label: words, enabled: waiting > 0, click: act.toFront }, { type: 'separator' }, { label: t.waiting.quit, click: act.quit },
      ]))
    },
    close: () => { tray.destroy() },
  }
}

/** The app's mark, drawn here so that it is sharp without a file: a check in a ring, in the colour of what waits when something does. */
function iconOf(waits: boolean): Electron.NativeImage {
  const pixels = Buffer.alloc(sidePx * sidePx * 4)
  const [red, green, blue] = waits ? [217, 119, 6] : process.platform === 'darwin' ? [0, 0, 0] : [128, 134, 150]
  for (let y = 0; y < sidePx; y += 1) {
    for (let x = 0; x < sidePx; x += 1) {
      const alpha = Math.max(ring(x, y), check(x, y))
      pixels.set([blue * alpha, green * alpha, red * alpha, 255 * alpha], (y * sidePx + x) * 4)
    }
  }
  const icon = nativeImage.createFromBitmap(pixels, { width: sidePx, height: sidePx, scaleFactor: 2 })
  if (process.platform === 'darwin' && !waits) icon.setTemplateImage(true)
  return icon
}

const centre = (sidePx - 1) / 2

/** How much of a pixel a line of `widthPx` covers whose middle is `distance` away. */
function covered(distance: number, widthPx: number): number {
  return Math.min(1, Math.max(0, widthPx / 2 + 0.5 - distance))
}

function ring(x: number, y: number): number {
  return covered(Math.abs(Math.hypot(x - centre, y - centre) - 13), 2.6)
}

function check(x: number, y: number): number {
  return Math.max(covered(toSegment(x, y, 9.5, 16, 14, 20.5), 3), covered(toSegment(x, y, 14, 20.5, 22.5, 11), 3))
}

function toSegment(x: number, y: number, ax: number, ay: number, bx: number, by: number): number {
  const along = Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)))
  return Math.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay))
}
