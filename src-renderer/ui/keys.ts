import { t } from '../i18n/text.ts'

/** A key combination as `mod+shift+enter`; `mod` is Ctrl, and Cmd on a Mac. Keys are lower-case `KeyboardEvent.key` names. */
export type Chord = string

/** The part of a keyboard event that matters here. */
export interface KeyPress {
  readonly key: string
  readonly code: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly shiftKey: boolean
  readonly altKey: boolean
}

/** True on a Mac, where Cmd takes the part of Ctrl. */
export function onMac(): boolean {
  return typeof navigator !== 'undefined' && navigator.userAgent.includes('Mac')
}

/** Whether a key press is a chord. Letters also match by their place, so that other keyboard layouts work with Shift and Alt held. */
export function isChord(press: KeyPress, chord: Chord, mac: boolean): boolean {
  const parts = chord.split('+')
  const key = parts.at(-1) ?? ''
  const wants = (name: string): boolean => parts.slice(0, -1).includes(name)
  const mod = wants('mod')
  if ((mac ? press.metaKey : press.ctrlKey) !== mod) return false
  if ((mac ? press.ctrlKey : press.metaKey) || press.altKey !== wants('alt')) return false
  if (press.shiftKey !== wants('shift') && !/^[^a-z0-9]$/.test(key)) return false
  if (press.key.toLowerCase() === key) return true
  return /^[a-z]$/.test(key) && press.code === `Key${key.toUpperCase()}`
}

/** The caps to draw for a chord, in the order in which they are pressed. */
export function chordCaps(chord: Chord, mac: boolean): readonly string[] {
  return chord.split('+').map((part) => {
    switch (part) {
      case 'mod': return mac ? '⌘' : t.keys.ctrl
      case 'shift': return mac ? '⇧' : t.keys.shift
      case 'alt': return mac ? '⌥' : t.keys.alt
      case 'arrowup': return '↑'
      case 'arrowdown': return '↓'
      case ' ': return t.keys.space
      case 'enter': case 'escape': case 'delete': case 'end': return t.keys[part]
      default: return part.toUpperCase()
    }
  })
}

/** A chord for `aria-keyshortcuts`. */
export function ariaChord(chord: Chord, mac: boolean): string {
  return chord
    .split('+')
    .map((part) => (part === 'mod' ? (mac ? 'Meta' : 'Control') : part.length === 1 ? part.toUpperCase() : `${part[0]?.toUpperCase() ?? ''}${part.slice(1)}`))
    .join('+')
}

/** True where a key belongs to whoever is typing. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && !['checkbox', 'radio', 'button'].includes(target.type))
}
