import type { ReactNode } from 'react'

/** Being built. */
export function ReviewScreen(): ReactNode {
  return <div />
}
