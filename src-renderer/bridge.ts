import type { Bridge, MethodInput, MethodName, MethodOutput } from '../src-preload/contract/methods.ts'
import type { Failure } from '../src-preload/contract/failure.ts'
import type { CommandId } from '../src-preload/contract/ids.ts'
import type { Result } from '../src-preload/contract/result.ts'
import { t } from './i18n/text.ts'

declare global {
  interface Window {
    /** Put there by the preload; absent only when the window was opened by something else. */
    readonly countersign?: Bridge
  }
}

/** An expected failure of a call, as an error, because react-query tells success from failure by throwing. */
class CallFailed extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.name = 'CallFailed'
    this.failure = failure
  }
}

function unreachable(): Failure {
  return { code: 'unavailable', message: t.app.unreachable, todo: t.app.unreachableTodo }
}

/** The bridge copies what it is given out of the page: what nests deeper than a thousand levels, or is no plain value, is refused before anybody sees it. */
function uncopied(cause: unknown): Failure {
  return { code: 'invalid-input', message: t.app.uncopied({ why: (cause instanceof Error ? cause.message : String(cause)).slice(0, 500) }), todo: t.app.uncopiedTodo }
}

/** The preload's bridge. @throws when the window was opened without it, which only a bug can do */
export function bridge(): Bridge {
  const found = window.countersign
  if (found === undefined) throw new Error('The preload did not expose window.countersign')
  return found
}

/** Makes one call. A broken channel is a failure like any other, so that a screen has one way to show trouble. */
export async function call<M extends MethodName>(method: M, input: MethodInput<M>): Promise<Result<MethodOutput<M>, Failure>> {
  try {
    return await bridge().call(method, input)
  } catch (cause) {
    console.error(`${method} did not come back`, cause)
    return { ok: false, error: window.countersign === undefined ? unreachable() : uncopied(cause) }
  }
}

/** As `call`, for react-query. @throws CallFailed with the failure that main answered */
export async function callOrThrow<M extends MethodName>(method: M, input: MethodInput<M>): Promise<MethodOutput<M>> {
  const result = await call(method, input)
  if (!result.ok) throw new CallFailed(result.error)
  return result.value
}

/** The failure inside whatever a query or mutation was rejected with. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CallFailed) return error.failure
  return { code: 'internal', message: error instanceof Error ? error.message : String(error), todo: t.app.unexpectedTodo }
}

/** A new command id; minted at the click, so that the same click can never be carried out twice. */
export function newCommandId(): CommandId {
  return crypto.randomUUID() as CommandId
}
