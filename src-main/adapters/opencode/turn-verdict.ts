/** What history says of a turn. Pure. */
import { z } from 'zod'
import { limits } from '../../../src-preload/contract/limits.ts'
import type { WireError, WireMessage } from './wire.ts'

export interface TurnEnd {
  readonly outcome: 'completed' | 'failed' | 'aborted'
  readonly finish: string | null
  /** What the agent said last, whole. */
  readonly text: string
  readonly error: string | null
  /** The proxy's own code of a refusal, where the vendor error carries one. */
  readonly errorCode: string | null
}

/**
 * `absent`: history does not know the message. `unanswered`: it does, and no answer was begun. `unfinished`: the last answer is neither
 * complete nor failed. `ended`: it is; whether the loop goes on after it (a finish of “tool-calls”) only the session's status tells.
 */
export type TurnVerdict = { readonly is: 'absent' } | { readonly is: 'unanswered' } | { readonly is: 'unfinished'; readonly text: string } | { readonly is: 'ended'; readonly end: TurnEnd }

/** Reads the turn that `messageId` began out of a session's history, oldest message first. */
export function verdictOfTurn(history: readonly WireMessage[], messageId: string): TurnVerdict {
  const start = history.findIndex(({ info }) => info.id === messageId)
  if (start < 0) return { is: 'absent' }
  const after = history.slice(start + 1)
  const next = after.findIndex(beginsTurn)
  const answers = (next < 0 ? after : after.slice(0, next)).filter(({ info }) => info.role === 'assistant')
  const last = answers.at(-1)
  if (last === undefined) return { is: 'unanswered' }
  if (last.info.error === undefined && last.info.time.completed === undefined) return { is: 'unfinished', text: saidText(last) }
  return { is: 'ended', end: endOfAnswer(last) }
}

/** Only a message with words of a person begins a turn: OpenCode writes user messages itself when it compacts a session. */
function beginsTurn({ info, parts }: WireMessage): boolean {
  return info.role === 'user' && parts.some((part) => part.type === 'text' && part.synthetic !== true)
}

/** How a turn ended whose last answer this is. */
export function endOfAnswer(last: WireMessage): TurnEnd {
  const { error, finish } = last.info
  const said = { finish: finish ?? null, text: saidText(last) }
  if (error?.name === 'MessageAbortedError') return { ...said, outcome: 'aborted', error: null, errorCode: null }
  if (error !== undefined) return { ...said, outcome: 'failed', ...errorWords(error) }
  if (finish === 'stop') return { ...said, outcome: 'completed', error: null, errorCode: null }
  return { ...said, outcome: 'failed', error: finishWords(finish, last), errorCode: null }
}

/** A finish that is no success (opencode.md, “Rules that follow”). */
function finishWords(finish: string | undefined, last: WireMessage): string {
  const failed = last.parts.flatMap((part) => part.type === 'tool' && part.state.status === 'error' ? [part.state.error] : []).at(-1)
  switch (finish) {
    case 'tool-calls': return failed === undefined ? 'The turn stopped after a tool call.' : `The turn stopped after a tool call: ${failed}`.slice(0, limits.progressCharsMax)
    case 'length': return 'The model stopped at its output limit.'
    case 'content-filter': return 'The provider’s content filter stopped the answer.'
    case undefined: return 'The answer ended without a reason.'
    default: return `The answer ended with the reason “${finish}”.`
  }
}

/** Words and code of an error. The code is `error.code` of the body that the proxy answered with. */
export function errorWords(error: WireError): { readonly error: string; readonly errorCode: string | null } {
  const { message, statusCode, responseBody } = error.data ?? {}
  const status = statusCode === undefined ? '' : ` (HTTP ${statusCode})`
  return { error: `${message ?? error.name}${status}`.slice(0, limits.progressCharsMax), errorCode: codeOf(responseBody) ?? codeOf(message) }
}

const refusalSchema = z.object({ error: z.object({ code: z.string().min(1).max(100) }) })

function codeOf(body: string | undefined): string | null {
  if (body?.startsWith('{') !== true) return null
  try {
    return refusalSchema.safeParse(JSON.parse(body)).data?.error.code ?? null
  } catch (cause) {
    // A vendor's body may be cut or no JSON at all: then it carries no code.
    if (cause instanceof SyntaxError) return null
    throw cause
  }
}

function saidText({ parts }: WireMessage): string {
  return parts.flatMap((part) => part.type === 'text' && part.synthetic !== true && part.ignored !== true ? [part.text] : []).join('\n')
}
