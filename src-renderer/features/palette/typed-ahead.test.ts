import { beforeEach, expect, test } from 'vitest'
import { TypedAhead } from './typed-ahead.ts'

let page: EventTarget
let ahead: TypedAhead
let focused: boolean
let stop: () => void
/** Whether the key reached the page as well. */
function press(key: string, held: { readonly ctrlKey?: boolean; readonly altKey?: boolean; readonly metaKey?: boolean; readonly altGraph?: boolean; readonly isComposing?: boolean } = {}): boolean {
  let reached = false
  const seen = (): void => { reached = true }
  page.addEventListener('keydown', seen)
  page.dispatchEvent(Object.assign(new Event('keydown', { cancelable: true }), { key, ctrlKey: false, altKey: false, metaKey: false, isComposing: false, getModifierState: () => held.altGraph === true, ...held }))
  page.removeEventListener('keydown', seen)
  return reached
}
beforeEach(() => {
  page = new EventTarget()
  ahead = new TypedAhead()
  focused = false
  stop = ahead.keep(page, () => focused)
})

test('what is typed before the field is there is kept, in its order, and reaches nothing else', () => {
  expect(['g', 'o', ' ', 'x', 'Backspace', '€'].map((key) => press(key))).toEqual([false, false, false, false, false, false])
  expect(ahead.text).toBe('go €')
})

test('combinations, keys that type nothing and a composition pass; a character that takes AltGr is typed', () => {
  expect([press('k', { ctrlKey: true }), press('a', { metaKey: true }), press('f', { altKey: true }), press('Tab'), press('Escape'), press('n', { isComposing: true })]).toEqual(Array<boolean>(6).fill(true))
  expect(press('@', { ctrlKey: true, altKey: true, altGraph: true })).toBe(false)
  expect(ahead.text).toBe('@')
})

test('keys that act press nothing that still has the focus behind the palette, such as Stop task, and are not kept', () => {
  expect(['a', 'Enter', 'ArrowDown', 'Delete', 'b'].map((key) => press(key))).toEqual([false, false, false, false, false])
  expect(ahead.text).toBe('ab')
})

test('a field that is drawn hears of what is still kept, until it has the focus', () => {
  press('a')
  const heard: string[] = [ahead.text]
  const unfollow = ahead.follow((text) => { heard.push(text) })
  press('b')
  focused = true
  expect([press('c'), press('d')]).toEqual([true, true])
  unfollow()
  expect(heard).toEqual(['a', 'ab'])
})

test('a palette that was closed again keeps nothing for the next time', () => {
  press('a')
  stop()
  expect(press('b')).toBe(true)
  expect(ahead.text).toBe('')
  ahead.keep(page, () => focused)
  press('c')
  expect(ahead.text).toBe('c')
})
