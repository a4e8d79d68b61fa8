import type { QueryClient } from '@tanstack/react-query'
import type { TaskId } from '../../../src-preload/contract/ids.ts'
import { fetchAhead } from '../../store/queries.ts'
import { loadDiffThemes } from './diff-pool.ts'
import { parsedFiles } from './parsed-files.ts'

/** Has ready what a result is looked at with, and the result itself if one waits. @throws what went wrong; it is tried again, and told, when the result is looked at */
export async function prepareResult(queries: QueryClient, waiting: TaskId | null): Promise<void> {
  await loadDiffThemes()
  if (waiting === null) return
  const { files } = await fetchAhead(queries, 'review.get', { taskId: waiting })
  parsedFiles(files)
}
