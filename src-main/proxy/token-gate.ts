import type { Grant, GrantTable } from './grants.ts'
import type { Door } from './host-rules.ts'
import type { RequestHead } from './http1/client-connection.ts'

/** The grants that the request's bearer token opens at this door, or null. Exactly one Authorization header counts. */
export function grantsOf({ fields, connection }: RequestHead, door: Door, grants: GrantTable): readonly [Grant, ...Grant[]] | null {
  const authorization = fields.only('authorization')
  const found = authorization === null ? [] : grants.match(authorization, door.is === 'socket' ? door.grantId : null, connection)
  return isSome(found) ? found : null
}

function isSome(grants: readonly Grant[]): grants is readonly [Grant, ...Grant[]] {
  return grants.length > 0
}
