import { BadgeCheck, CircleDashed, CircleDot, CirclePause, CircleSlash, CircleX, LoaderCircle, TriangleAlert, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import type { TaskRow } from '../../../src-preload/contract/rows.ts'
import type { TaskStatus } from '../../../src-preload/contract/task.ts'
import type { Tone } from '../../ui/badge.tsx'

const glyphs: Readonly<Record<TaskStatus, LucideIcon>> = {
  open: CircleDashed, claimed: CircleDashed, working: LoaderCircle, blocked: CirclePause, 'result-ready': CircleDot, accepted: BadgeCheck, cancelled: CircleSlash, failed: CircleX,
}

/** The colour that goes with a status. */
export const statusTones: Readonly<Record<TaskStatus, Tone>> = {
  open: 'neutral', claimed: 'neutral', working: 'neutral', blocked: 'warn', 'result-ready': 'ink', accepted: 'good', cancelled: 'neutral', failed: 'bad',
}

/** True while something of the task runs or may still come. */
export function isUnfinished(status: TaskStatus): boolean {
  return status === 'open' || status === 'claimed' || status === 'working' || status === 'blocked'
}

/** A task's status as a small picture. Decoration: the word is said beside it or in the row's label. */
export function StatusGlyph({ task }: { readonly task: Pick<TaskRow, 'status' | 'recovery'> }): ReactNode {
  const uncertain = task.recovery !== null
  const Icon = uncertain ? TriangleAlert : glyphs[task.status]
  const tone = uncertain ? 'warn' : statusTones[task.status]
  return <Icon className={`icon glyph glyph-${tone}${task.status === 'working' && !uncertain ? ' spin' : ''}`} aria-hidden />
}
