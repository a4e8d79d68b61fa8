import { hash, timingSafeEqual } from 'node:crypto'
import type { GatewayGrant } from '../core/gateway/messages.ts'
import { proxyLimits } from './proxy-limits.ts'
import type { Refusal } from './errors.ts'
import { endpointOf, type Endpoint } from './upstream.ts'

/** One bot of one task: where its requests go, and what was refused to it for good. */
export interface Grant extends Omit<GatewayGrant, 'token'> {
  readonly tokenHash: Buffer
  /** Where its requests go. */
  readonly endpoint: Endpoint
  readonly refusals: Map<string, Refusal>
  /** Aborts when the grant is revoked; every call under it ends. */
  readonly lifetime: AbortController
  /** What else is called then; cheaper than a listener where each call sets one. */
  readonly onRevoked: Set<() => void>
}

/** The open grants. Tokens are kept as hashes and compared in constant time, all of them on each look-up. */
export class GrantTable {
  readonly #grants = new Map<string, Grant>()
  readonly #presented = new WeakMap<object, { readonly token: string; readonly digest: Buffer }>()

  /** Adds or replaces a grant; its calls in flight go on. What was refused under it is forgotten: it is sent again where something may be allowed now. */
  put(grant: GatewayGrant): Grant {
    const { token, ...rest } = grant
    const known = this.#grants.get(grant.grantId)
    const kept: Grant = { ...rest, tokenHash: digestOf(token), endpoint: endpointOf(grant.target), refusals: new Map<string, Refusal>(), lifetime: known?.lifetime ?? new AbortController(), onRevoked: known?.onRevoked ?? new Set() }
    this.#grants.set(grant.grantId, kept)
    return kept
  }

  /** Ends a grant and all its calls. */
  revoke(grantId: string): void {
    const grant = this.#grants.get(grantId)
    this.#grants.delete(grantId)
    grant?.lifetime.abort()
    for (const end of [...(grant?.onRevoked ?? [])]) end()
  }

  /**
   * The grants of this bearer token: one in the app, one a model where the proxy runs alone. On a socket of one grant only that grant counts.
   * `connection`: the digest of the token that came over it last is kept. To compare with that tells a client no more than what it sent itself.
   */
  match(token: string, onlyGrantId: string | null, connection: object): readonly Grant[] {
    const presented = this.#digestOn(connection, token)
    const found: Grant[] = []
    for (const grant of this.#grants.values()) {
      const same = timingSafeEqual(grant.tokenHash, presented)
      if (same && (onlyGrantId === null || onlyGrantId === grant.grantId)) found.push(grant)
    }
    return found
  }

  #digestOn(connection: object, token: string): Buffer {
    const last = this.#presented.get(connection)
    if (last?.token === token) return last.digest
    const digest = digestOf(token)
    this.#presented.set(connection, { token, digest })
    return digest
  }

  /** What was refused may be allowed now: the owner has changed the rules. */
  forgetRefusals(): void {
    for (const grant of this.#grants.values()) grant.refusals.clear()
  }

  get all(): readonly Grant[] {
    return [...this.#grants.values()]
  }
}

/** Keeps a refusal that is final for the retries of the same bytes; the oldest goes when there are too many. */
export function rememberRefusal(grant: Grant, bodyDigest: string, refused: Refusal): void {
  const oldest = grant.refusals.size >= proxyLimits.refusalsMax ? grant.refusals.keys().next().value : undefined
  if (oldest !== undefined) grant.refusals.delete(oldest)
  grant.refusals.set(bodyDigest, refused)
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
