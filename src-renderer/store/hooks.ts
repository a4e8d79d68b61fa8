import { createContext, useCallback, useContext, useSyncExternalStore } from 'react'
import type { EntryRow, HoldRow, TaskRow } from '../../src-preload/contract/rows.ts'
import type { RowStore } from './row-store.ts'
import type { RowSync, SyncState } from './row-sync.ts'

/** The room's rows for every component below it. */
export const RoomContext = createContext<RowSync | null>(null)

/** The synchroniser of the room. @throws outside of `RoomContext` */
export function useRoom(): RowSync {
  const sync = useContext(RoomContext)
  if (sync === null) throw new Error('No room above this component')
  return sync
}

function useRows(): RowStore {
  return useRoom().rows
}

// What stands on a page that a build has drawn: no row, and the room not read yet.
const loading: SyncState = { at: 'loading' }
const atStart = (): SyncState => loading
const none: readonly string[] = []
const noKeys = (): readonly string[] => none
const noRow = (): undefined => undefined

/** Whether the rows are there, and why not. */
export function useSyncState(): SyncState {
  const sync = useRoom()
  return useSyncExternalStore(
    useCallback((listener: () => void) => sync.subscribe(listener), [sync]),
    () => sync.state,
    atStart,
  )
}

/** Keys of all tasks, newest first. */
export function useTaskKeys(): readonly string[] {
  const rows = useRows()
  return useSyncExternalStore(
    useCallback((listener: () => void) => rows.subscribeTasks(listener), [rows]),
    () => rows.taskKeys(),
    noKeys,
  )
}

/** Keys of the holds that wait for the owner, oldest first. */
export function useWaitingHoldKeys(): readonly string[] {
  const rows = useRows()
  return useSyncExternalStore(
    useCallback((listener: () => void) => rows.subscribeHolds(listener), [rows]),
    () => rows.waitingHoldKeys(),
    noKeys,
  )
}

/** Keys of a task's transcript, in order. */
export function useEntryKeys(taskId: string): readonly string[] {
  const rows = useRows()
  return useSyncExternalStore(
    useCallback((listener: () => void) => rows.subscribeEntries(taskId, listener), [rows, taskId]),
    () => rows.entryKeys(taskId),
  )
}

/** Keys of a task's model calls, in order. */
export function useCallKeys(taskId: string): readonly string[] {
  const rows = useRows()
  return useSyncExternalStore(
    useCallback((listener: () => void) => rows.subscribeCalls(taskId, listener), [rows, taskId]),
    () => rows.callKeys(taskId),
  )
}

function useRowOf<T>(key: string, read: (rows: RowStore, key: string) => T | undefined): T | undefined {
  const rows = useRows()
  return useSyncExternalStore(
    useCallback((listener: () => void) => rows.subscribeRow(key, listener), [rows, key]),
    () => read(rows, key),
    noRow,
  )
}

const readTask = (rows: RowStore, key: string): TaskRow | undefined => rows.task(key)
const readEntry = (rows: RowStore, key: string): EntryRow | undefined => rows.entry(key)
const readHold = (rows: RowStore, key: string): HoldRow | undefined => rows.hold(key)

/** One task row; undefined when it is gone. */
export function useTask(key: string): TaskRow | undefined {
  return useRowOf(key, readTask)
}

/** The task row of an id. */
export function useTaskById(taskId: string | null): TaskRow | undefined {
  return useTask(taskId === null ? 'task:' : `task:${taskId}`)
}

/** One line of a transcript; undefined when it is gone. */
export function useEntry(key: string): EntryRow | undefined {
  return useRowOf(key, readEntry)
}

/** One hold; undefined when it is gone. */
export function useHold(key: string): HoldRow | undefined {
  return useRowOf(key, readHold)
}
