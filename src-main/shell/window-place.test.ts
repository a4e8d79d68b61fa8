import { EventEmitter } from 'node:events'
import fc from 'fast-check'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { rememberedPlace, rememberPlace, restMs, type FollowedWindow } from './window-memory.ts'
import { openingPlace, parsePlace, placeText, windowMin, type Area, type WindowPlace } from './window-place.ts'

const main: Area = { x: 0, y: 25, width: 1920, height: 1055 }
const right: Area = { x: 1920, y: 0, width: 2560, height: 1440 }
const saved: WindowPlace = { area: { x: 2200, y: 100, width: 1400, height: 900 }, maximized: false }

describe('the window', () => {
  it('opens where it was, on the second display too', () => {
    expect(openingPlace(saved, [main, right])).toEqual({ ...saved.area, maximized: false })
  })

  it('opens in the middle of the main display when its own display is gone', () => {
    expect(openingPlace(saved, [main])).toEqual({ width: 1280, height: 840, maximized: false })
  })

  it('opens in the middle when its title is out of reach though the rest is on a display', () => {
    expect(openingPlace({ ...saved, area: { ...saved.area, x: 100, y: -400 } }, [main])).not.toHaveProperty('x')
    expect(openingPlace({ ...saved, area: { ...saved.area, x: 1900, y: 100 } }, [main])).not.toHaveProperty('x')
  })

  it('is moved and made smaller so that it lies on its display, which may have got smaller', () => {
    expect(openingPlace({ ...saved, area: { x: 1000, y: 700, width: 1400, height: 1200 } }, [main])).toEqual({ x: 520, y: 25, width: 1400, height: 1055, maximized: false })
  })

  it('is never smaller than its least, and its title is always within reach, whatever was saved and whichever displays are there', () => {
    const area = fc.record({ x: fc.integer({ min: -9_000, max: 9_000 }), y: fc.integer({ min: -9_000, max: 9_000 }), width: fc.integer({ min: 1, max: 9_000 }), height: fc.integer({ min: 1, max: 9_000 }) })
    fc.assert(fc.property(fc.record({ area, maximized: fc.boolean() }), fc.array(area, { minLength: 1, maxLength: 4 }), (given, displays) => {
      const place = openingPlace(parsePlace(placeText(given)), displays)
      expect(place.width).toBeGreaterThanOrEqual(windowMin.width)
      expect(place.height).toBeGreaterThanOrEqual(windowMin.height)
      const { x, y } = place
      if (x === undefined || y === undefined) return
      expect(displays.some((display) => x >= display.x && x < display.x + display.width && y >= display.y && y < display.y + display.height), JSON.stringify(place)).toBe(true)
    }), { numRuns: 1_000 })
  })
})

describe('the place of the window', () => {
  let folder: string
  let path: string
  beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'place-')); path = join(folder, 'window.json'); vi.useFakeTimers() })
  afterEach(() => { vi.useRealTimers(); rmSync(folder, { recursive: true, force: true }) })

  class Fake extends EventEmitter implements FollowedWindow {
    area: Area = saved.area
    maximized = false
    getNormalBounds(): Area { return this.area }
    isMaximized(): boolean { return this.maximized }
  }

  it.each(['', '{', 'null', '[]', '{"area":{}}', '{"area":{"x":0,"y":0,"width":1,"height":1},"maximized":false}', '{"area":{"x":0,"y":0,"width":1280,"height":1e99},"maximized":false}', '{"area":{"x":0.5,"y":0,"width":1280,"height":900},"maximized":false}', '{"area":{"x":0,"y":0,"width":1280,"height":900},"maximized":"yes"}', '\u0000'.repeat(200)])(
    'is not known from a broken file: %j', (text) => {
      writeFileSync(path, text)
      expect(rememberedPlace(path)).toBe(null)
    })

  it('is not known where there is no file, or a folder in its place', () => {
    expect(rememberedPlace(path)).toBe(null)
    mkdirSync(path)
    expect(rememberedPlace(path)).toBe(null)
  })

  it('is written once the window rests, not at each step of a drag', () => {
    const window = new Fake()
    rememberPlace(window, path, () => undefined)
    for (let step = 1; step <= 50; step += 1) { window.area = { ...saved.area, x: step }; window.emit('move'); vi.advanceTimersByTime(restMs - 1) }
    expect(existsSync(path)).toBe(false)
    vi.advanceTimersByTime(1)
    expect(rememberedPlace(path)).toEqual({ area: { ...saved.area, x: 50 }, maximized: false })
  })

  it('is written at the close, with the size that it has when it is not maximized', () => {
    const window = new Fake()
    rememberPlace(window, path, () => undefined)
    window.maximized = true
    window.emit('maximize')
    window.emit('close')
    expect(rememberedPlace(path)).toEqual({ area: saved.area, maximized: true })
    const written = readFileSync(path, 'utf8')
    window.area = { ...saved.area, x: 7 }
    vi.advanceTimersByTime(10 * restMs)
    expect(readFileSync(path, 'utf8'), 'nothing is written after the close').toBe(written)
  })

  it('that cannot be written is complained of, and nothing else happens', () => {
    const window = new Fake()
    const heard: string[] = []
    rememberPlace(window, join(folder, 'nowhere', 'window.json'), (why) => { heard.push(why) })
    window.emit('close')
    expect(heard).toEqual(['ENOENT'])
  })
})
