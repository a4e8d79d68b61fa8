import { useSyncExternalStore } from 'react'
import type { TaskId } from '../../src-preload/contract/ids.ts'

export const settingsSections = ['providers', 'runtimes', 'isolation', 'grants', 'fallbacks', 'budgets', 'appearance', 'attention', 'updates', 'storage', 'system'] as const
export type SettingsSection = (typeof settingsSections)[number]

/** What the middle of the window shows. */
export type Screen =
  | { readonly at: 'room' }
  | { readonly at: 'review' }
  | { readonly at: 'new-task' }
  | { readonly at: 'settings'; readonly section: SettingsSection }
  | { readonly at: 'audit' }

/** What the window remembers that is nobody's business but its own. Lost on restart, and that is fine. */
export interface UiState {
  readonly screen: Screen
  readonly taskId: TaskId | null
  /** What links from outside named, in their order, until the rows tell whether it is there. */
  readonly linkedTaskIds: readonly TaskId[]
  readonly inspector: 'auto' | 'open' | 'closed'
  readonly paletteOpen: boolean
  readonly taskFilter: string
  /** Rows and sections that the owner opened or closed by hand, by key. */
  readonly open: ReadonlyMap<string, boolean>
}

const start: UiState = { screen: { at: 'room' }, taskId: null, linkedTaskIds: [], inspector: 'auto', paletteOpen: false, taskFilter: '', open: new Map() }

let state = start
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

/** The present state, for code that is no component. */
export function uiState(): UiState {
  return state
}

/** Changes some fields and redraws whoever reads them. */
export function changeUi(change: Partial<UiState>): void {
  state = { ...state, ...change }
  for (const listener of [...listeners]) listener()
}

/** One value out of the state; redraws only when that value changes. `pick` must return something stable. */
export function useUi<T>(pick: (state: UiState) => T): T {
  return useSyncExternalStore(subscribe, () => pick(state), () => pick(start))
}

/** Goes to a screen. */
export function show(screen: Screen): void {
  changeUi({ screen, paletteOpen: false })
}

/** Shows a task's room. */
export function showTask(taskId: TaskId): void {
  changeUi({ taskId, screen: { at: 'room' }, paletteOpen: false })
}

/** Whether a collapsible thing is open; `initially` holds until the owner touches it. */
export function useOpen(key: string, initially: boolean): readonly [boolean, (open: boolean) => void] {
  const open = useUi((now) => now.open.get(key)) ?? initially
  return [
    open,
    (next) => {
      changeUi({ open: new Map(state.open).set(key, next) })
    },
  ]
}
