import type { CallId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { compareLeft, type EditCall } from '../../core/approval/edit-call.ts'
import type { CoderSignal, CoderSpec } from '../../engine/ports.ts'
import { baseBytesMax, lookAt, withSeenFiles, type SeenFile } from './real-path.ts'
import type { WriteTurns } from './write-turns.ts'

/** What an edit leaves is as large as what it found and what it was approved to add. */
const leftBytesMax = baseBytesMax + limits.editDiffBytesMax

interface Asked { readonly sessionId: string; readonly callId: CallId; readonly edit: EditCall; readonly files: readonly SeenFile[] }

/** Looks at the files of an edit that asks: when it asks, again when it is let through, and again when it has ended. No link is followed by the operating system. */
export interface EditWatch {
  /** The signal as the engine sees it: an ask with where its files lead and what they hold, the end of an edit with what it did besides what was approved. */
  seen(signal: CoderSignal): CoderSignal
  /** Waits until nobody else writes. Null: the edit may go on. `gone`: the agent ended meanwhile. Else why it may not, in words that continue “the edit was not made: …”. */
  letThrough(permissionId: string): Promise<'gone' | { readonly changed: string } | null>
  /** An edit that was let through is known not to have been made. */
  notMade(permissionId: string): void
  /** The session whose edit was let through and has not been seen to end: it keeps all others away. */
  editingIn(): string | null
}

/** Watches the edits of one agent. `workspaceInside`: what its programs, and links, call the workspace. `turns` keeps its commands away meanwhile; `onWait` hears of an edit that has to wait for them. */
export function createEditWatch(workspaceDir: string, workspaceInside: string, turns: WriteTurns, onWait: CoderSpec['onWriteWait'] = () => undefined): EditWatch {
  const asked = new Map<string, Asked>()
  let open: Asked | null = null
  const look = (files: readonly { readonly path: string }[], bytesMax: number): readonly SeenFile[] => files.map(({ path }) => lookAt({ workspaceDir, workspaceInside }, path, bytesMax))
  const close = (edit: Asked | null): void => {
    if (edit === null) return
    if (open === edit) open = null
    turns.editEnded(edit.callId)
  }
  return {
    seen(signal) {
      switch (signal.is) {
        case 'permission-asked': {
          const files = look(signal.files, baseBytesMax)
          const told = withSeenFiles(signal, files)
          if (told.edit !== undefined && told.callId !== null) asked.set(told.permissionId, { sessionId: told.sessionId, callId: told.callId, edit: told.edit, files })
          return told
        }
        case 'tool-ended': {
          for (const [permissionId, { callId }] of asked) if (callId === signal.callId) asked.delete(permissionId)
          if (open?.callId !== signal.callId) return signal
          const strayed = signal.outcome === 'done' ? strayedFrom(open, look(open.files, leftBytesMax)) : null
          close(open)
          return strayed === null ? signal : { ...signal, strayed }
        }
        case 'turn-ended': case 'exited':
          asked.clear()
          close(open)
          if (signal.is === 'exited') turns.close()
          return signal
        default: return signal
      }
    },
    async letThrough(permissionId) {
      const edit = asked.get(permissionId)
      if (edit === undefined) return null
      if (!(await turns.edit(edit.callId, (waitsFor) => { onWait({ of: { is: 'edit', callId: edit.callId }, for: waitsFor }) }))) return 'gone'
      const changed = changedSince(edit.files, look(edit.files, baseBytesMax))
      if (changed === null && asked.get(permissionId) === edit) open = edit
      else turns.editEnded(edit.callId)
      return changed === null ? null : { changed }
    },
    notMade(permissionId) { close(asked.get(permissionId) ?? null) },
    editingIn: () => open?.sessionId ?? null,
  }
}

/** Why an ask is not about what is there now. */
function changedSince(asked: readonly SeenFile[], now: readonly SeenFile[]): string | null {
  for (const [at, { path, real, folder, text, pinned }] of asked.entries()) {
    const there = now[at]
    if (there?.real !== real || there.folder !== folder) return `${path} leads elsewhere than when it was asked for`
    if (!pinned || !there.pinned || (there.text === undefined) !== (text === undefined)) return `${path} cannot be compared with what it was when it was asked for`
    if (there.text !== text) return `${path} was changed after it was asked for`
  }
  return null
}

/** What a done edit did besides what was approved, in words that continue “…: ”. What it took away leads nowhere any more: then its folder is compared. */
function strayedFrom({ edit, files }: Asked, now: readonly SeenFile[]): string | null {
  for (const [at, { path, real, folder }] of files.entries()) {
    const there = now[at]
    if (there?.folder !== folder || !there.pinned || (there.real !== real && there.text !== null)) return `${path} leads elsewhere than when it was approved`
  }
  return compareLeft(edit, now.flatMap(({ path, text }) => (text === undefined ? [] : [{ path, text }])))
}
