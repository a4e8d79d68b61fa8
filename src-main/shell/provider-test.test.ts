import { expect, test } from 'vitest'
import type { GatewayCallEnd, Lead, ModelDirectory, ModelGateway } from '../engine/ports.ts'
import { testProvider } from './provider-test.ts'

test('a provider’s test tells the model that answered and the time it took, also when word of the call’s end comes behind the answer', async () => {
  const listeners: ((end: GatewayCallEnd) => void)[] = []
  let opened: { taskId: GatewayCallEnd['taskId'] } | null = null
  const gateway = {
    open: (grant: { taskId: GatewayCallEnd['taskId'] }) => { opened = grant; return Promise.resolve({ ok: true, value: { token: 't', socketPath: '/s' } }) },
    close: () => Promise.resolve(), onCallEnded: (listener: (end: GatewayCallEnd) => void) => { listeners.push(listener) },
  } as unknown as ModelGateway
  const tell = (taskId: GatewayCallEnd['taskId'], modelAnswered: string): void => {
    for (const listener of listeners) listener({ callNumber: 1, taskId, bot: 'lead', path: 'direct', status: 200, modelAnswered, inputTokens: 1, outputTokens: 1, latencyMs: 42, failure: null })
  }
  const lead = {
    ask: () => {
      setImmediate(() => {
        tell('task_other' as GatewayCallEnd['taskId'], 'of another task')
        if (opened !== null) tell(opened.taskId, 'large-2')
      })
      return Promise.resolve({ ok: true, value: { text: 'Hello.' } })
    },
  } as unknown as Lead
  const directory = { resolve: () => ({ ok: true, value: { api: 'chat' } }) } as unknown as ModelDirectory
  const ids = { next: (prefix: string) => `${prefix}_1` }
  expect(await testProvider({ gateway, directory, lead, ids }, { id: 'acme', modelId: 'large' })).toEqual({ ok: true, value: { status: 200, modelAnswered: 'large-2', latencyMs: 42, text: 'Hello.' } })
})
