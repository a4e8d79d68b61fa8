import { X } from 'lucide-react'
import { useEffect, useSyncExternalStore, type ReactNode } from 'react'
import { translated } from '../i18n/language.ts'
import { t } from '../i18n/text.ts'
import { IconButton } from './button.tsx'
import { Notice } from './notice.tsx'

/** A short message about something that was done elsewhere. Trouble stays until it is dismissed. */
export interface Toast {
  readonly tone: 'good' | 'bad' | 'info'
  readonly text: string
  readonly detail?: string
}

const shownMs = 6_000
const toastsMax = 4

type Shown = readonly (Toast & { readonly id: number })[]

const none: Shown = []
const noToasts = (): Shown => none
let toasts = none
let nextId = 1
const listeners = new Set<() => void>()

function become(next: Shown): void {
  toasts = next
  for (const listener of [...listeners]) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

/** Shows a message in the corner. */
export function say(toast: Toast): void {
  become([...toasts, { ...toast, id: nextId }].slice(-toastsMax))
  nextId += 1
}

/** The messages on screen. Rendered once, at the window's root. */
export function Toasts(): ReactNode {
  const shown = useSyncExternalStore(subscribe, () => toasts, noToasts)
  return (
    <div className="toasts" role="status" aria-label={t.word.messages}>
      {shown.map((toast) => (
        <OneToast key={toast.id} id={toast.id} toast={toast} />
      ))}
    </div>
  )
}

function OneToast({ id, toast }: { readonly id: number; readonly toast: Toast }): ReactNode {
  const dismiss = (): void => {
    become(toasts.filter((other) => other.id !== id))
  }
  const stays = toast.tone === 'bad'
  useEffect(() => {
    if (stays) return
    const later = setTimeout(() => {
      become(toasts.filter((other) => other.id !== id))
    }, shownMs)
    return () => {
      clearTimeout(later)
    }
  }, [id, stays])
  return (
    <Notice tone={toast.tone} title={translated(toast.text)} actions={<IconButton label={t.word.dismiss} icon={X} size="small" onPress={dismiss} />}>
      {toast.detail === undefined ? null : <div className="soft">{translated(toast.detail)}</div>}
    </Notice>
  )
}
