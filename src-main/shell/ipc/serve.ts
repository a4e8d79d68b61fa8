import { ipcMain, type IpcMainInvokeEvent, type WebContents } from 'electron'
import { channelOf, methodNames } from '../../../src-preload/contract/channels.ts'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { methods, type MethodInput, type MethodName, type MethodOutput } from '../../../src-preload/contract/methods.ts'
import { err, type Result } from '../../../src-preload/contract/result.ts'
import { appOrigin } from '../app-protocol.ts'

/** One handler a method: gets parsed input, answers a value. */
export type Handlers = { readonly [M in MethodName]: (input: MethodInput<M>, caller: WebContents) => Promise<Result<MethodOutput<M>, Failure>> | Result<MethodOutput<M>, Failure> }

/** Only the main frame of the app's own page may call. */
function isOwnPage(event: IpcMainInvokeEvent): boolean {
  const frame = event.senderFrame
  return frame !== null && frame.parent === null && frame === event.sender.mainFrame && frame.url.startsWith(`${appOrigin}/`)
}

/**
 * Registers every method. M1. A foreign sender or frame, or an input that does not parse, reaches no handler.
 * M2. Nothing throws across IPC: a bug is logged with its stack and answered as a value.
 */
export function serveMethods(handlers: Handlers, log: (msg: string, fields: Record<string, unknown>) => void): void {
  for (const method of methodNames) {
    ipcMain.handle(channelOf(method), async (event, raw: unknown) => {
      if (!isOwnPage(event)) return err(failure('invalid-input', 'This call did not come from the app\'s own page.', 'Nothing happened.'))
      const parsed = methods[method].input.safeParse(raw)
      if (!parsed.success) {
        const issue = parsed.error.issues[0]
        return err(failure('invalid-input', `${method}: ${issue === undefined ? 'not understood' : `${issue.path.join('.')}: ${issue.message}`}`, 'Correct it and try again; nothing was changed.'))
      }
      try {
        return await handlers[method](parsed.data as never, event.sender)
      } catch (error) {
        log('a method threw', { method, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
        return err(failure('internal', 'Something went wrong inside the app.', 'Try again. The log has the details; nothing is lost.'))
      }
    })
  }
}
