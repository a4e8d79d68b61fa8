import { createParser } from 'eventsource-parser'
import type { Client } from 'undici'
import { failure, failureCodeSchema, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { Lead } from '../../engine/ports.ts'
import { errorOf, stepsOf, wholeText } from './reply-text.ts'
import { requestOf, type LeadTurn } from './requests.ts'

const textCharsMax = 256 * 1024
const replyBytesMax = 16 * 1024 * 1024
/** The proxy ends what is dead earlier than this; it is the bound for a proxy that hangs itself. */
const silenceMs = 330_000

type Answer = Result<{ readonly text: string }, Failure>

/** Bot A's model, asked through the proxy's Unix socket: one streamed request a turn, no tools. Nothing is retried here. */
export function createLead(): Lead {
  return {
    ask: async (turn, onText, signal) => {
      // Loaded with the first question, not when the app starts: it is the largest library of this process.
      const { Client } = await import('undici')
      const client = new Client('http://localhost', { socketPath: turn.socketPath, headersTimeout: silenceMs, bodyTimeout: silenceMs })
      try {
        return await askOnce(client, turn, onText, signal)
      } catch (error) {
        if (signal.aborted) return err(failure('cancelled', 'The lead was stopped.', 'Nothing to do.'))
        const words = error instanceof Error ? error.message : 'unknown'
        return err(failure('proxy-failed', `The model proxy broke off: ${words}`, 'It is started again by itself; try again.'))
      } finally {
        await client.destroy()
      }
    },
  }
}

async function askOnce(client: Client, turn: LeadTurn, onText: (text: string) => void, signal: AbortSignal): Promise<Answer> {
  const { path, body } = requestOf(turn)
  const reply = await client.request({ method: 'POST', path, body, headers: { authorization: `Bearer ${turn.token}`, 'content-type': 'application/json', accept: 'text/event-stream' }, signal })
  const isStream = /^text\/event-stream\b/i.test(String(reply.headers['content-type'] ?? ''))
  if (reply.statusCode >= 200 && reply.statusCode < 300 && isStream) return readStream(turn.api, reply.body, onText)
  const text = await readWhole(reply.body)
  if (text === null) return nonsense('sent more than 16 MiB')
  const value = parseOrNull(text)
  if (reply.statusCode < 200 || reply.statusCode >= 300) return refused(reply.statusCode, errorOf(value))
  const whole = wholeText(turn.api, value)
  if (whole === null || whole.length > textCharsMax) return nonsense('sent something that is no answer of this API')
  onText(whole)
  return ok({ text: whole })
}

async function readStream(api: 'chat' | 'responses', chunks: AsyncIterable<Buffer>, onText: (text: string) => void): Promise<Answer> {
  let text = ''
  const end: { ended: boolean; failed: Answer | null } = { ended: false, failed: null }
  const parser = createParser({
    onEvent: ({ data }) => {
      for (const step of data.trim() === '[DONE]' ? [] : stepsOf(api, parseOrNull(data))) {
        if (step.is === 'text') text += step.text
        else if (step.is === 'end') end.ended = true
        else if (step.is === 'error') end.failed ??= refused(null, step)
      }
    },
  })
  const decoder = new TextDecoder('utf-8')
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    const before = text.length
    parser.feed(decoder.decode(chunk, { stream: true }))
    if (text.length > textCharsMax || bytes > replyBytesMax) return nonsense('does not stop talking')
    if (text.length > before) onText(text)
  }
  if (end.failed !== null) return end.failed
  return end.ended ? ok({ text }) : nonsense('ended its answer in the middle')
}

async function readWhole(chunks: AsyncIterable<Buffer>): Promise<string | null> {
  const held: Buffer[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > replyBytesMax) return null
    held.push(chunk)
  }
  return Buffer.concat(held).toString('utf8')
}

/** Codes of the proxy that say what the owner can do; a code of ours (an admission's) is taken as it is. */
const proxyCodes: Readonly<Record<string, Failure['code']>> = {
  credential_missing: 'credential-missing', upstream_unreachable: 'provider-unreachable', upstream_timeout: 'provider-unreachable', upstream_stream_incomplete: 'provider-nonsense', fallback_failed: 'provider-unreachable', fallbacks_failed: 'provider-unreachable', credential_exchange_failed: 'provider-unreachable',
  admission_unanswered: 'proxy-failed', token_unknown: 'proxy-failed', proxy_internal: 'proxy-failed', task_stopped: 'cancelled', stopped: 'cancelled',
}

const todos: Partial<Record<Failure['code'], string>> = {
  'credential-missing': 'Enter the key of this provider in Settings.',
  'provider-unreachable': 'Check that the provider is running and that its base URL in Settings is right.',
  'provider-nonsense': 'Try again; if it stays, choose another model for Bot A, or answer in its place.',
  'budget-exhausted': 'Raise the budget of the task, or stop it.',
  cancelled: 'Nothing to do.',
}

/** Where the proxy's own code says better than the kind of failure what to look at. */
const proxyTodos: Readonly<Record<string, string>> = {
  credential_exchange_failed: 'Check the exchange address, what belongs to it and the key of this provider in Settings.',
  upstream_redirect: 'Enter the address that it redirects to as base URL in Settings, if you trust it.',
  client_attestation_denied: 'Use the vendor’s own program, or turn on a fallback for text-only calls in Settings → Fallbacks.',
  direct_disabled: 'Turn the direct path on in Settings → Fallbacks.',
  fallbacks_failed: 'Check this provider, and the vendor’s program in Settings → Fallbacks.',
}

function refused(status: number | null, error: { readonly code: string | null; readonly message: string } | null): Answer {
  const known = error?.code == null ? undefined : (proxyCodes[error.code] ?? failureCodeSchema.safeParse(error.code.replaceAll('_', '-')).data)
  const code = known ?? 'provider-refused'
  const message = error?.message ?? `The provider answered with status ${String(status)} and no reason.`
  return err(failure(code, message, proxyTodos[error?.code ?? ''] ?? todos[code] ?? 'Check the model, the key and the limits of this provider in Settings.'))
}

function nonsense(what: string): Answer {
  return err(failure('provider-nonsense', `The model of Bot A ${what}.`, todos['provider-nonsense'] ?? ''))
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
