import type { ReactNode } from 'react'

/** Being built. */
export function AuditScreen(): ReactNode {
  return <div />
}
