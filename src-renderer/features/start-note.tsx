import type { ReactNode } from 'react'
import { t } from '../i18n/text.ts'
import { usePatience } from '../store/clock.ts'

/** Longer than a start takes where OpenCode's version is known. */
const worthSayingMs = 2_000

/** What stands beside the button that starts a task: its usual note, or what the start waits for when that takes long. */
export function StartNote({ pending, usual }: { readonly pending: boolean; readonly usual: string }): ReactNode {
  return pending ? <Pending usual={usual} /> : usual
}

function Pending({ usual }: { readonly usual: string }): ReactNode {
  const late = usePatience(worthSayingMs)
  return <span role="status">{late ? t.first.checking : usual}</span>
}
