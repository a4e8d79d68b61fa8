import { newCommandId } from '../../bridge.ts'
import { useAct } from '../../store/queries.ts'
import { showTask } from '../../store/ui-store.ts'

/** Starts the sample task and shows its room. */
export function useRunSample(): { readonly run: () => void; readonly isPending: boolean; readonly error: unknown } {
  const act = useAct('task.runSample', ({ taskId }) => {
    showTask(taskId)
  })
  return {
    run: () => {
      if (!act.isPending) act.mutate({ commandId: newCommandId() })
    },
    isPending: act.isPending,
    error: act.error,
  }
}
