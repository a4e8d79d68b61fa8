import { createHash } from 'node:crypto'
import { Agent, type Dispatcher } from 'undici'
import type { CredentialExchange } from '../../src-preload/contract/settings.ts'
import { err, ok, type Result } from '../../src-preload/contract/result.ts'
import { recordOf, textOf } from '../core/preview/json-shape.ts'
import { boundedText, parsedOrNull } from './json-text.ts'
import { errorMessageOf } from './metering.ts'
import { proxyLimits } from './proxy-limits.ts'
import { cleanWords } from './redaction.ts'
import type { Time } from './time.ts'

/** Why no token was had, in words that hold no secret. */
export type ExchangeFailure = string

/** A token with its life, told by two clocks: it counts as long as neither says that it has ended. */
interface Lease { readonly token: string; readonly renewAt: Moment; readonly endsAt: Moment }
interface Moment { readonly wall: number; readonly steady: number }

interface Entry { lease: Lease | null; asking: Promise<Result<string, ExchangeFailure>> | null }

/**
 * Turns stored credentials into short-lived tokens: kept until shortly before they end, renewed early beside the calls that still use them,
 * one exchange at a time for each credential. A clock of ours that is wrong, or jumps, costs an exchange more and nothing else.
 */
export class TokenExchange {
  readonly #time: Time
  readonly #agent = new Agent({ connect: { timeout: proxyLimits.connectMs } })
  readonly #entries = new Map<string, Entry>()

  constructor(time: Time) {
    this.#time = time
  }

  /** A token for this credential; from memory where one still holds. */
  async token(exchange: CredentialExchange, credential: string): Promise<Result<string, ExchangeFailure>> {
    const entry = this.#entryOf(exchange, credential)
    const { lease } = entry
    if (lease !== null && this.#before(lease.endsAt)) {
      if (!this.#before(lease.renewAt)) void this.#ask(entry, exchange, credential)
      return ok(lease.token)
    }
    return this.#ask(entry, exchange, credential)
  }

  /** The vendor did not take this token: the next call gets another. */
  reject(exchange: CredentialExchange, credential: string, token: string): void {
    const entry = this.#entryOf(exchange, credential)
    if (entry.lease?.token === token) entry.lease = null
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  #entryOf(exchange: CredentialExchange, credential: string): Entry {
    const key = createHash('sha256').update(JSON.stringify([exchange, credential])).digest('hex')
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const oldest = this.#entries.size >= proxyLimits.exchangesMax ? this.#entries.keys().next().value : undefined
    if (oldest !== undefined) this.#entries.delete(oldest)
    const entry: Entry = { lease: null, asking: null }
    this.#entries.set(key, entry)
    return entry
  }

  #before(moment: Moment): boolean {
    return this.#time.now() < moment.wall && this.#time.steady() < moment.steady
  }

  #ask(entry: Entry, exchange: CredentialExchange, credential: string): Promise<Result<string, ExchangeFailure>> {
    entry.asking ??= this.#exchange(exchange, credential).then((exchanged) => {
      entry.asking = null
      if (!exchanged.ok) return exchanged
      entry.lease = exchanged.value
      return ok(exchanged.value.token)
    })
    return entry.asking
  }

  async #exchange(exchange: CredentialExchange, credential: string): Promise<Result<Lease, ExchangeFailure>> {
    const asked: Moment = { wall: this.#time.now(), steady: this.#time.steady() }
    const bound = new AbortController()
    const cancel = this.#time.after(proxyLimits.exchangeMs, () => bound.abort())
    try {
      const { origin, pathname, search } = new URL(exchange.url)
      const reply = await this.#agent.request({ origin, path: `${pathname}${search}`, ...requestOf(exchange, credential), signal: bound.signal })
      const text = await boundedText(reply.body, proxyLimits.errorHeldBytesMax)
      const value = parsedOrNull(text ?? '')
      const words = wordsOf(value)
      if (reply.statusCode !== 200 && reply.statusCode !== 201) return err(cleanWords(`it answered with status ${reply.statusCode}${words === null ? '' : `: ${words}`}`, credential))
      return leaseOf(value, reply.headers['date'], asked, (exchange.lifeSeconds ?? proxyLimits.tokenLifeUnknownMs / 1_000) * 1_000)
    } catch (error) {
      if (!(error instanceof Error)) throw error
      return err(bound.signal.aborted ? `it did not answer within ${proxyLimits.exchangeMs / 1_000} s` : cleanWords(error.message, credential))
    } finally {
      cancel()
    }
  }
}

function wordsOf(value: unknown): string | null {
  return (textOf(recordOf(value)?.['error_description']) ?? errorMessageOf(value))?.slice(0, 300) ?? null
}

/** Sources: RFC 6749, 4.4.2 (client credentials); RFC 8693, 2.1 (token exchange); RFC 6750, 2.1 (bearer). */
function requestOf(exchange: CredentialExchange, credential: string): { readonly method: Dispatcher.HttpMethod; readonly headers: Record<string, string>; readonly body?: string } {
  const { how, scope, audience, clientId } = exchange
  const accept = { accept: 'application/json', 'accept-encoding': 'identity' }
  if (how === 'bearer') {
    const headers = { ...accept, authorization: `Bearer ${credential}` }
    return exchange.method === 'GET' ? { method: 'GET', headers } : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify({ ...(scope === undefined ? {} : { scope }), ...(audience === undefined ? {} : { audience }) }) }
  }
  const form = new URLSearchParams(how === 'client-credentials'
    ? { grant_type: 'client_credentials', client_secret: credential }
    : { grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange', subject_token: credential, subject_token_type: 'urn:ietf:params:oauth:token-type:access_token' })
  for (const [name, value] of Object.entries({ client_id: clientId, scope, audience })) if (value !== undefined) form.set(name, value)
  return { method: 'POST', headers: { ...accept, 'content-type': 'application/x-www-form-urlencoded' }, body: form.toString() }
}

/** Reads the token and how long it lives. An end told as a date is measured on the vendor's own clock, where its reply tells that. */
function leaseOf(value: unknown, dateHeader: string | readonly string[] | undefined, asked: Moment, unknownMs: number): Result<Lease, ExchangeFailure> {
  const about = recordOf(value)
  const token = textOf(about?.['access_token']) ?? textOf(about?.['token'])
  if (about === null || token === null || !/^[\x21-\x7e]{1,20000}$/.test(token)) return err('its answer has no token')
  const vendorNow = Date.parse(String(dateHeader ?? ''))
  const lifeMs = lifeOf(about, Number.isNaN(vendorNow) ? asked.wall : vendorNow, unknownMs)
  if (lifeMs <= 0) return err('the token that it gave has ended already')
  const earlyMs = Math.min(lifeMs / 2, Math.max(proxyLimits.tokenEarlyMs, lifeMs / 10))
  const lastMs = Math.min(lifeMs / 4, proxyLimits.tokenLastMs)
  const at = (ms: number): Moment => ({ wall: asked.wall + ms, steady: asked.steady + ms })
  return ok({ token, renewAt: at(lifeMs - earlyMs), endsAt: at(lifeMs - lastMs) })
}

function lifeOf(about: Readonly<Record<string, unknown>>, vendorNow: number, unknownMs: number): number {
  const seconds = Number(about['expires_in'] ?? Number.NaN)
  if (Number.isFinite(seconds)) return Math.min(seconds * 1_000, proxyLimits.tokenLifeMsMax)
  const end = about['expires_at']
  const endMs = typeof end === 'number' ? end * (end < 1e11 ? 1_000 : 1) : typeof end === 'string' ? Date.parse(end) : Number.NaN
  return Number.isFinite(endMs) ? Math.min(endMs - vendorNow, proxyLimits.tokenLifeMsMax) : unknownMs
}
