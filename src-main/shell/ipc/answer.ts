import type { WebContents } from 'electron'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { methods, type MethodInput, type MethodName, type MethodOutput } from '../../../src-preload/contract/methods.ts'
import { err, type Result } from '../../../src-preload/contract/result.ts'
import { refusalOf } from '../../engine/refusal.ts'
import type { Answer } from './serve.ts'

/** One handler a method: gets parsed input, answers a value. */
export type Handlers = { readonly [M in MethodName]: (input: MethodInput<M>, caller: WebContents) => Promise<Result<MethodOutput<M>, Failure>> | Result<MethodOutput<M>, Failure> }

/**
 * How every call is answered. M2. An input that does not parse reaches no handler.
 * M3. Nothing throws across IPC: a journal that cannot be read says why, a bug is logged with its stack and answered as a value.
 */
export function createAnswer(handlers: Handlers, log: (msg: string, fields: Record<string, unknown>) => void): Answer {
  return async (method, raw, caller) => {
    const parsed = methods[method].input.safeParse(raw)
    if (!parsed.success) {
      const issue = parsed.error.issues[0]
      return err(failure('invalid-input', `${method}: ${issue === undefined ? 'not understood' : `${issue.path.join('.')}: ${issue.message}`}`, 'Correct it and try again; nothing was changed.'))
    }
    try {
      return await handlers[method](parsed.data as never, caller)
    } catch (error) {
      const refused = refusalOf(error)
      if (refused !== null) return err(refused)
      log('a method threw', { method, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
      return err(failure('internal', 'Something went wrong inside the app.', 'Try again. The log has the details; nothing is lost.'))
    }
  }
}
