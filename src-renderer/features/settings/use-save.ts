import { useQueryClient } from '@tanstack/react-query'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import type { Settings } from '../../../src-preload/contract/settings.ts'
import { failureOf } from '../../bridge.ts'
import { useAct } from '../../store/queries.ts'

export interface Save {
  readonly save: (next: Settings) => void
  readonly isPending: boolean
  readonly failure: Failure | null
  readonly saved: boolean
}

/** Saves settings. The window shows the new value at once and takes it back if it was refused. */
export function useSave(): Save {
  const queries = useQueryClient()
  const put = useAct('settings.put')
  return {
    save: (next) => {
      const before = queries.getQueryData(['settings.get', {}])
      queries.setQueryData(['settings.get', {}], next)
      put.mutate(next, {
        onError: () => {
          queries.setQueryData(['settings.get', {}], before)
        },
        onSettled: () => {
          void queries.invalidateQueries()
        },
      })
    },
    isPending: put.isPending,
    failure: put.isError ? failureOf(put.error) : null,
    saved: put.isSuccess,
  }
}
