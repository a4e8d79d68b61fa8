import type { ReactNode } from 'react'

/** Being built. */
export function NewTaskScreen(): ReactNode {
  return <div />
}
