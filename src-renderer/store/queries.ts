import { QueryClient, useMutation, useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query'
import type { MethodInput, MethodName, MethodOutput } from '../../src-preload/contract/methods.ts'
import { callOrThrow } from '../bridge.ts'

/** One client for the window. Main is on the same machine, so `offline` means nothing, and trouble is shown at once instead of retried. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { networkMode: 'always', retry: false, staleTime: 30_000, refetchOnWindowFocus: false },
      mutations: { networkMode: 'always', retry: false },
    },
  })
}

/** Reads by a method. The cache key is the method and its input. */
export function useMethod<M extends MethodName>(method: M, input: MethodInput<M>, options: { enabled?: boolean; staleTimeMs?: number; againAfterMs?: (data: MethodOutput<M> | undefined) => number | false } = {}): UseQueryResult<MethodOutput<M>> {
  return useQuery<MethodOutput<M>>({
    queryKey: [method, input],
    queryFn: () => callOrThrow(method, input),
    enabled: options.enabled ?? true,
    ...(options.staleTimeMs === undefined ? {} : { staleTime: options.staleTimeMs }),
    ...(options.againAfterMs === undefined ? {} : { refetchInterval: (query: { state: { data: MethodOutput<M> | undefined } }) => options.againAfterMs?.(query.state.data) ?? false }),
  })
}

/** Reads by a method ahead of the component that will show it, so that `useMethod` has it at once. @throws CallFailed; the component then tries again */
export function fetchAhead<M extends MethodName>(client: QueryClient, method: M, input: MethodInput<M>): Promise<MethodOutput<M>> {
  return client.query<MethodOutput<M>>({ queryKey: [method, input], queryFn: () => callOrThrow(method, input), staleTime: 0 })
}

/** Acts by a method. Rejections are `CallFailed`; read them with `failureOf`. */
export function useAct<M extends MethodName>(method: M, onDone?: (output: MethodOutput<M>, input: MethodInput<M>) => void): UseMutationResult<MethodOutput<M>, unknown, MethodInput<M>> {
  return useMutation<MethodOutput<M>, unknown, MethodInput<M>>({
    mutationFn: (input) => callOrThrow(method, input),
    ...(onDone === undefined ? {} : { onSuccess: onDone }),
  })
}
