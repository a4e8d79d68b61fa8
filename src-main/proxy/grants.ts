import { hash, timingSafeEqual } from 'node:crypto'
import type { GatewayGrant } from '../core/gateway/messages.ts'
import { proxyLimits } from './proxy-limits.ts'
import type { Refusal } from './errors.ts'
import { Roll, type Enrolled } from './roll.ts'
import { endpointOf, type Endpoint } from './upstream.ts'

/** A call under a grant that is told when the grant is revoked. */
export interface Revocable extends Enrolled { revoked(): void }

/** One bot of one task: where its requests go, and what was refused to it for good. */
export interface Grant extends Omit<GatewayGrant, 'token'> {
  readonly tokenHash: Buffer
  /** Where its requests go. */
  readonly endpoint: Endpoint
  /** The same grant as it was given last: a call can outlive what it began with. */
  readonly current: () => Grant
  readonly refusals: Map<string, Refusal>
  /** Aborts when the grant is revoked; every call under it ends. */
  readonly lifetime: AbortController
  /** Calls that are told of it themselves; cheaper than a listener where each call sets one. */
  readonly calls: Roll<Revocable>
}

const bearer = /^Bearer +([A-Za-z0-9._~+/=-]{1,512})$/i

/** Whether a header can present this token. */
export function presentable(token: string): boolean {
  return bearer.test(`Bearer ${token}`)
}

/** The open grants. Tokens are kept as hashes and compared in constant time, all of them on each look-up. */
export class GrantTable {
  readonly #grants = new Map<string, Grant>()
  /** What came over a connection last, and what it opened while the grants were these. */
  readonly #presented = new WeakMap<object, { readonly authorization: string; readonly onlyGrantId: string | null; readonly version: number; readonly found: readonly Grant[] }>()
  #version = 0

  /** Adds or replaces a grant; its calls in flight go on. What was refused under it is forgotten: it is sent again where something may be allowed now. */
  put(grant: GatewayGrant): Grant {
    const { token, ...rest } = grant
    const known = this.#grants.get(grant.grantId)
    const kept: Grant = { ...rest, tokenHash: digestOf(token), endpoint: endpointOf(grant), current: () => this.#grants.get(grant.grantId) ?? kept, refusals: new Map<string, Refusal>(), lifetime: known?.lifetime ?? new AbortController(), calls: known?.calls ?? new Roll<Revocable>() }
    this.#grants.set(grant.grantId, kept)
    this.#version += 1
    return kept
  }

  /** Ends a grant and all its calls. */
  revoke(grantId: string): void {
    const grant = this.#grants.get(grantId)
    this.#grants.delete(grantId)
    this.#version += 1
    grant?.lifetime.abort()
    for (const call of grant?.calls.all ?? []) call.revoked()
  }

  /**
   * The grants of the bearer token in this Authorization header: one in the app, one a model where the proxy runs alone. On a socket of one grant only that grant counts.
   * `connection`: what the header opened that came over it last is kept for as long as no grant changes. To compare with that tells a client no
   * more than what it sent itself.
   */
  match(authorization: string, onlyGrantId: string | null, connection: object): readonly Grant[] {
    const last = this.#presented.get(connection)
    if (last?.authorization === authorization && last.onlyGrantId === onlyGrantId && last.version === this.#version) return last.found
    const token = bearer.exec(authorization)?.[1]
    const found = token === undefined ? [] : this.#ofToken(digestOf(token), onlyGrantId)
    this.#presented.set(connection, { authorization, onlyGrantId, version: this.#version, found })
    return found
  }

  #ofToken(digest: Buffer, onlyGrantId: string | null): readonly Grant[] {
    const found: Grant[] = []
    for (const grant of this.#grants.values()) {
      const same = timingSafeEqual(grant.tokenHash, digest)
      if (same && (onlyGrantId === null || onlyGrantId === grant.grantId)) found.push(grant)
    }
    return found
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
