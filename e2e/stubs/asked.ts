import type { IncomingHttpHeaders } from 'node:http'

/** Who asks, read from the system text alone. */
export type Asker = 'brief' | 'answer' | 'review' | 'coder' | 'other'

/** One request that reached the provider, whole. */
export interface Asked {
  readonly at: number
  readonly number: number
  readonly api: 'chat' | 'responses'
  readonly asker: Asker
  readonly headers: IncomingHttpHeaders
  /** The raw body. */
  readonly body: string
  /** The text of the user's messages, joined. */
  readonly user: string
  readonly model: string
  readonly streams: boolean
}

interface Message { readonly role?: string; readonly content?: unknown }
interface Body { readonly model?: string; readonly stream?: boolean; readonly messages?: readonly Message[]; readonly input?: string | readonly Message[]; readonly instructions?: string }

/** Reads a request. @throws when the body is no JSON object: nobody but the app talks to the provider */
export function readAsked(about: Pick<Asked, 'at' | 'number' | 'api' | 'headers' | 'body'>): Asked {
  const body = JSON.parse(about.body) as Body
  const messages: readonly Message[] = body.messages ?? (typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : (body.input ?? []))
  const textOf = (...roles: string[]): string => messages.filter((message) => roles.includes(message.role ?? '')).map((message) => plain(message.content)).join('\n')
  const system = `${body.instructions ?? ''}\n${textOf('system', 'developer')}`.trim()
  return { ...about, asker: askerOf(system), user: textOf('user'), model: body.model ?? '', streams: body.stream === true }
}

function askerOf(system: string): Asker {
  const purpose = /^You are Bot A, the lead\. Purpose: (brief|answer|review)\.$/m.exec(system)?.[1]
  if (purpose !== undefined) return purpose as Asker
  return /^You are Bot B, the coder\.$/m.test(system) ? 'coder' : 'other'
}

function plain(content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.map((part: { readonly text?: string }) => part.text ?? '').join('\n') : ''
}
