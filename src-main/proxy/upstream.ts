import type { IncomingHttpHeaders } from 'node:http'
import type { Grant } from './grants.ts'

/** Headers of a request that go on to the vendor. Everything else of the client's stays here: its token, Host, session id, cookies. */
const requestHeaders = ['accept', 'content-type', 'user-agent', 'openai-beta', 'idempotency-key', 'x-client-request-id'] as const

/** Headers of a reply that end at this hop (RFC 9110, 7.6.1), or that are nobody's business here. */
const replyHeadersDropped = new Set(['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'set-cookie', 'alt-svc', 'x-muse-proxy-path'])

/** Where a grant's request goes: the provider's base URL with the API's path; a query of the base URL is kept. */
export function upstreamUrl(grant: Grant, api: 'chat' | 'responses'): { readonly origin: string; readonly path: string } {
  const base = new URL(grant.target.baseUrl)
  const folder = base.pathname.replace(/\/+$/, '')
  return { origin: base.origin, path: `${folder}${api === 'chat' ? '/chat/completions' : '/responses'}${base.search}` }
}

/** The request's headers as the vendor gets them. The one place where a credential is added. */
export function upstreamHeaders(headers: IncomingHttpHeaders, credential: string | null): Record<string, string> {
  const sent: Record<string, string> = { 'accept-encoding': 'identity' }
  for (const name of requestHeaders) {
    const value = headers[name]
    if (typeof value === 'string') sent[name] = value
  }
  if (credential !== null) sent['authorization'] = `Bearer ${credential}`
  return sent
}

/** The reply's headers as the client gets them. A stream may get a frame more than its vendor counted, so its length is left out. */
export function replyHeaders(headers: IncomingHttpHeaders, isStream: boolean): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || replyHeadersDropped.has(name) || (isStream && name === 'content-length')) continue
    kept[name] = value
  }
  return kept
}
