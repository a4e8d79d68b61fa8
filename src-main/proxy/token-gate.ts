import type { IncomingMessage } from 'node:http'
import type { Grant, GrantTable } from './grants.ts'
import type { Door } from './host-rules.ts'

/** The grants that the request's bearer token opens at this door, or null. Exactly one Authorization header counts. */
export function grantsOf(request: IncomingMessage, door: Door, grants: GrantTable): readonly [Grant, ...Grant[]] | null {
  const values = request.headersDistinct['authorization'] ?? []
  const token = values.length === 1 ? /^Bearer +([A-Za-z0-9._~+/=-]{1,512})$/i.exec(values[0] ?? '')?.[1] : undefined
  const [first, ...others] = token === undefined ? [] : grants.match(token, door.is === 'socket' ? door.grantId : null)
  return first === undefined ? null : [first, ...others]
}
