/** A rectangle on the desktop, in pixels independent of a display's density. */
export interface Area { readonly x: number; readonly y: number; readonly width: number; readonly height: number }

/** Where the window was when it closed. `area` is that of the window that is not maximized. */
export interface WindowPlace { readonly area: Area; readonly maximized: boolean }

export const windowMin = { width: 1000, height: 600 } as const
const windowDefault = { width: 1280, height: 840 } as const
/** No desktop is larger than this; what is further out was not written by this app. */
const coordinateMax = 100_000
/** So much of the title must lie on a display that a person can take hold of the window. */
const grip = { width: 120, height: 30 } as const

/** Reads what `placeText` wrote. Null: there is nothing, or nothing that can be believed. */
export function parsePlace(text: string): WindowPlace | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (notJson) {
    if (notJson instanceof SyntaxError) return null
    throw notJson
  }
  if (!isRecord(value) || !isRecord(value['area']) || typeof value['maximized'] !== 'boolean') return null
  const { x, y, width, height } = value['area']
  if (!isCoordinate(x) || !isCoordinate(y) || !isCoordinate(width) || !isCoordinate(height) || width < windowMin.width || height < windowMin.height) return null
  return { area: { x, y, width, height }, maximized: value['maximized'] }
}

export function placeText(place: WindowPlace): string {
  return `${JSON.stringify(place)}\n`
}

/**
 * Where the window opens: as it was, wholly on the display on which its title mostly lay, when that display is still there; else in its
 * default size in the middle of the main display, which is what an absent `x` means. `workAreas`: of all displays, without panels and docks.
 */
export function openingPlace(saved: WindowPlace | null, workAreas: readonly Area[]): { readonly x?: number; readonly y?: number; readonly width: number; readonly height: number; readonly maximized: boolean } {
  if (saved === null) return { ...windowDefault, maximized: false }
  const title = { ...saved.area, height: grip.height }
  const [home] = workAreas.map((area) => ({ area, shared: overlap(title, area) })).filter(({ shared }) => shared.width >= grip.width && shared.height > 0).sort((a, b) => b.shared.width * b.shared.height - a.shared.width * a.shared.height)
  if (home === undefined) return { ...windowDefault, maximized: saved.maximized }
  const { area } = home
  const width = Math.max(windowMin.width, Math.min(saved.area.width, area.width))
  const height = Math.max(windowMin.height, Math.min(saved.area.height, area.height))
  return { x: within(saved.area.x, area.x, area.x + area.width - width), y: within(saved.area.y, area.y, area.y + area.height - height), width, height, maximized: saved.maximized }
}

function overlap(a: Area, b: Area): { readonly width: number; readonly height: number } {
  return { width: Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x), height: Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) }
}

/** The least wins over the most: a window that is larger than the display keeps its title in view. */
function within(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most))
}

function isCoordinate(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= coordinateMax
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
