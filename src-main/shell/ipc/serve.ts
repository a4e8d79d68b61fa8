import { ipcMain, type IpcMainInvokeEvent, type WebContents } from 'electron'
import { channelOf, methodNames } from '../../../src-preload/contract/channels.ts'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import type { MethodName } from '../../../src-preload/contract/methods.ts'
import type { Result } from '../../../src-preload/contract/result.ts'
import { appOrigin } from '../app-protocol.ts'

/** Answers one call of a page. Takes whatever came and never throws: see `createAnswer`. */
export type Answer = (method: MethodName, raw: unknown, caller: WebContents) => Promise<Result<unknown, Failure>>

const foreign: Failure = { code: 'invalid-input', message: 'This call did not come from the app\'s own page.', todo: 'Nothing happened.' }

/** Only the main frame of the app's own page may call. */
function isOwnPage(event: IpcMainInvokeEvent): boolean {
  const frame = event.senderFrame
  return frame !== null && frame.parent === null && frame === event.sender.mainFrame && frame.url.startsWith(`${appOrigin}/`)
}

/**
 * Registers every method. Calls that come before the app can answer wait for it; nothing here needs more than the window itself does.
 * M1. A foreign sender or frame reaches no handler.
 */
export function serveMethods(answering: Promise<Answer>): void {
  for (const method of methodNames) {
    ipcMain.handle(channelOf(method), async (event, raw: unknown) => {
      // Looked at now: the frame may be gone later.
      const own = isOwnPage(event)
      const answer = await answering
      return own ? answer(method, raw, event.sender) : { ok: false, error: foreign }
    })
  }
}
