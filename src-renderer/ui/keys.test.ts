import { describe, expect, it } from 'vitest'
import { ariaChord, chordCaps, isChord, type KeyPress } from './keys.ts'

const press = (key: string, held: Partial<KeyPress> = {}): KeyPress => ({ key, code: /^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : '', ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...held })

describe('chords', () => {
  it('takes Ctrl for mod, and Cmd on a Mac', () => {
    expect(isChord(press('k', { ctrlKey: true }), 'mod+k', false)).toBe(true)
    expect(isChord(press('k', { metaKey: true }), 'mod+k', true)).toBe(true)
    expect(isChord(press('k', { ctrlKey: true }), 'mod+k', true)).toBe(false)
    expect(isChord(press('k', { metaKey: true, ctrlKey: true }), 'mod+k', false)).toBe(false)
  })

  it('does not take a chord for one with more keys held', () => {
    expect(isChord(press('Enter', { ctrlKey: true, shiftKey: true }), 'mod+enter', false)).toBe(false)
    expect(isChord(press('Enter', { ctrlKey: true, shiftKey: true }), 'mod+shift+enter', false)).toBe(true)
    expect(isChord(press('Enter'), 'mod+enter', false)).toBe(false)
    expect(isChord(press('Enter', { ctrlKey: true, altKey: true }), 'mod+enter', false)).toBe(false)
  })

  it('finds a letter by its place on a keyboard of another script', () => {
    expect(isChord({ ...press('k', { ctrlKey: true }), key: 'л' }, 'mod+k', false)).toBe(true)
  })

  it('draws the caps of the platform', () => {
    expect(chordCaps('mod+shift+enter', false)).toEqual(['Ctrl', 'Shift', 'Enter'])
    expect(chordCaps('mod+k', true)).toEqual(['⌘', 'K'])
    expect(ariaChord('mod+shift+a', false)).toBe('Control+Shift+A')
  })
})
