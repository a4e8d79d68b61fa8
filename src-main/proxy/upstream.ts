import type { GatewayGrant } from '../core/gateway/messages.ts'
import type { Fields } from './http1/fields.ts'
import type { ReplyLines } from './http1/reply.ts'
import { laneOf, vendorOrigin, type Lane } from './http1/vendor-pool.ts'

/**
 * Header fields of a request that go on to the vendor. Everything else of the client's stays here: its token, Host, session id, cookies. Its
 * content type, too: the body was read as JSON in UTF-8, and a charset could make the vendor read something else in the same bytes.
 */
const requestFields: ReadonlySet<string> = new Set(['accept', 'user-agent', 'openai-beta', 'idempotency-key', 'x-client-request-id'])

/** Header fields of a reply that end at this hop (RFC 9110, 7.6.1), or that are nobody's business here. */
const replyFieldsDropped: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'set-cookie', 'alt-svc', 'x-muse-proxy-path'])

/** No page of a browser may read an answer, whatever its vendor says. */
const corsPrefix = 'access-control-'

/** Where a grant's requests go. `lines`: what every request to there begins with; its path has the query of the base URL, which is kept. */
export interface Endpoint { readonly lane: Lane; readonly lines: string }

/** The provider's base URL with the API's path behind it. */
export function endpointOf({ grantId, target: { baseUrl, api } }: Pick<GatewayGrant, 'grantId' | 'target'>): Endpoint {
  const base = new URL(baseUrl)
  const folder = base.pathname.replace(/\/+$/, '')
  const path = `${folder}${api === 'chat' ? '/chat/completions' : '/responses'}${base.search}`
  return { lane: laneOf(grantId, vendorOrigin(base)), lines: `POST ${path} HTTP/1.1\r\nhost: ${base.host}\r\nconnection: keep-alive\r\naccept-encoding: identity\r\ncontent-type: application/json\r\n` }
}

/**
 * The head of the request as the vendor gets it, with the blank line; null when the credential cannot stand in a header. The one place where
 * a credential is added. What is handed on was read by us as one line each, so that no value can hold another field.
 */
export function upstreamHead({ lines }: Endpoint, fields: Fields, credential: string | null, bodyBytes: number): string | null {
  if (credential !== null && !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(credential)) return null
  let head = lines
  fields.each((lower, value) => { if (requestFields.has(lower)) head += `${lower}: ${value}\r\n` })
  if (credential !== null) head += `authorization: Bearer ${credential}\r\n`
  return `${head}content-length: ${String(bodyBytes)}\r\n\r\n`
}

/** The reply's header fields as the client gets them. A stream may get a frame more than its vendor counted, so its length is left out. */
export function replyLines(fields: Fields, isStream: boolean): ReplyLines {
  let [text, bodyBytes, dated] = ['', null as number | null, false]
  fields.each((lower, value, name) => {
    if (replyFieldsDropped.has(lower) || lower.startsWith(corsPrefix) || (isStream && lower === 'content-length')) return
    text += `${name}: ${value}\r\n`
    if (lower === 'content-length') bodyBytes = Number(value)
    else if (lower === 'date') dated = true
  })
  return { text: `${text}x-muse-proxy-path: direct\r\n`, bodyBytes, dated }
}
