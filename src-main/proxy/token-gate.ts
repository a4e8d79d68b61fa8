import type { Grant, GrantTable } from './grants.ts'
import type { Door } from './host-rules.ts'
import type { RequestHead } from './http1/client-connection.ts'

/** The grants that the request's bearer token opens at this door, or null. Exactly one Authorization header counts. */
export function grantsOf({ fields, connection }: RequestHead, door: Door, grants: GrantTable): readonly [Grant, ...Grant[]] | null {
  const token = /^Bearer +([A-Za-z0-9._~+/=-]{1,512})$/i.exec(fields.only('authorization') ?? '')?.[1]
  const [first, ...others] = token === undefined ? [] : grants.match(token, door.is === 'socket' ? door.grantId : null, connection)
  return first === undefined ? null : [first, ...others]
}
