import { listOf, recordOf, textOf } from '../core/preview/json-shape.ts'
import { err, ok, type Result } from '../../src-preload/contract/result.ts'
import type { PlainMessage, TextRequest } from './call.ts'
import { carriesTools } from './tools-gate.ts'

/** Why no fallback may answer a chat request. `tools`: it carries some. `content`: it needs more than text in and text out. */
export interface Ineligible { readonly because: 'tools' | 'content'; readonly why: string }

/** What a chat request is for a fallback: its messages as text. Parameters that only tune the answer are left out; what a fallback cannot honour makes it ineligible. */
export function textRequestOf(body: Readonly<Record<string, unknown>>): Result<TextRequest, Ineligible> {
  if (carriesTools(body)) return err({ because: 'tools', why: 'a fallback would turn its tool calls into prose' })
  const beyond = beyondText(body)
  if (beyond !== null) return err({ because: 'content', why: beyond })
  const messages: PlainMessage[] = []
  for (const value of listOf(body['messages'])) {
    const message = messageOf(value)
    if (!message.ok) return message
    messages.push(message.value)
  }
  if (!messages.some(({ role }) => role === 'user')) return err({ because: 'content', why: 'there is no message of the user in it' })
  return ok({ messages, streams: body['stream'] === true, wantsUsage: recordOf(body['stream_options'])?.['include_usage'] === true })
}

/** What is asked for beyond one answer in plain text; null if nothing. */
function beyondText(body: Readonly<Record<string, unknown>>): string | null {
  if (typeof body['n'] === 'number' && body['n'] !== 1) return 'it asks for several answers'
  const format = recordOf(body['response_format'])?.['type']
  if (format !== undefined && format !== 'text') return 'it asks for an answer of a fixed format'
  if (body['logprobs'] === true) return 'it asks for probabilities'
  if (body['audio'] != null || listOf(body['modalities']).some((kind) => kind !== 'text')) return 'it asks for more than text'
  return body['web_search_options'] != null ? 'it asks for a search' : null
}

const roles: ReadonlyMap<unknown, PlainMessage['role']> = new Map([['system', 'system'], ['developer', 'system'], ['user', 'user'], ['assistant', 'assistant']])

/** A message as text; several text parts are one text, with a line break between them. */
function messageOf(value: unknown): Result<PlainMessage, Ineligible> {
  const message = recordOf(value)
  const role = roles.get(message?.['role'])
  if (message === null || role === undefined) return err({ because: 'content', why: 'it has a message of an unknown role' })
  const content = message['content']
  if (typeof content === 'string') return ok({ role, content })
  if (content == null) return ok({ role, content: textOf(message['refusal']) ?? '' })
  const texts: string[] = []
  for (const part of listOf(content)) {
    const about = recordOf(part)
    const text = about?.['type'] === 'text' ? about['text'] : about?.['type'] === 'refusal' ? about['refusal'] : undefined
    if (typeof text !== 'string') return err({ because: 'content', why: 'it has parts that are no text' })
    texts.push(text)
  }
  return texts.length === 0 ? err({ because: 'content', why: 'it has a message without text' }) : ok({ role, content: texts.join('\n') })
}
