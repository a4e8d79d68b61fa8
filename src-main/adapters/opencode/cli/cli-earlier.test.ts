import { describe, expect, test } from 'vitest'
import type { CoderSignal } from '../../../engine/ports.ts'
import type { ControlClient } from '../control-client.ts'
import type { Conversation } from '../run.ts'
import { hostTimers, manualClock } from '../support.suite.ts'
import { openCliConversation } from './cli-conversation.ts'
import type { CliOrder } from './runner-client.ts'

const state = { status: 'completed', input: { filePath: '/workspace/a' }, output: 'ok', title: 'a', metadata: {} }
const part = (id: string, callID: string): object => ({ sessionID: 'ses_1', messageID: `msg_of_${id}`, id, type: 'tool', tool: 'write', callID, state })
const line = (id: string, callID: string): string => JSON.stringify({ type: 'tool_use', timestamp: 1, sessionID: 'ses_1', part: part(id, callID) })
const exported = (...parts: object[]): string => JSON.stringify({ info: { id: 'ses_1' }, messages: [{ info: { id: 'msg_old', sessionID: 'ses_1', role: 'assistant', time: { created: 1, completed: 2 }, finish: 'stop' }, parts }] })
const turn = (messageId: string): Parameters<Conversation['submit']>[0] => ({ sessionId: 'ses_1', messageId, partId: 'prt_0', text: 'Go on.', system: '' })

/** A runner whose OpenCode prints these lines for each of its commands, in their order. */
function converse(prints: readonly (readonly [command: string, ...lines: string[]])[], code = 0): { readonly conversation: Conversation; readonly commands: string[]; readonly signals: CoderSignal[] } {
  const [commands, signals]: [string[], CoderSignal[]] = [[], []]
  const client: ControlClient = {
    call: ({ body }) => {
      commands.push((body as CliOrder).args[0] ?? '')
      return Promise.resolve({ is: 'answered', status: 200, body: { run: String(commands.length) } })
    },
    read: (_request, shape) => Promise.resolve({ is: 'read', value: shape.parse({ code, signal: null, words: '', left: 0 }) }),
    async * stream() {
      const [command, ...lines] = prints[commands.length - 1] ?? ['nothing']
      expect(command).toBe(commands.at(-1))
      await Promise.resolve()
      yield new TextEncoder().encode(`${lines.join('\n')}\n`)
    },
    close: () => Promise.resolve(),
  }
  const conversation = openCliConversation({
    client, clock: manualClock(), timers: hostTimers, log: () => undefined, newSessionId: () => 'ses_1', onSignal: (signal) => { signals.push(signal) },
    ground: { spec: { token: 't', model: { api: 'chat', modelId: 'm', contextTokens: 1_000, outputTokens: 100 }, permissions: { edit: 'allow', bash: 'ask' } }, boot: { password: 'p', nonce: 'n', port: 4_242, places: { workspace: '/workspace', home: '/home/agent', temporary: '/tmp', shell: '/opt/app/shell', proxyBaseUrl: 'http://127.0.0.1:7000/v1', controlPort: 4_096, searchPath: '/usr/local/bin:/usr/bin:/bin' } }, version: '1.18.30', observed: false, operatorEnvironment: {} },
    process: { controlSocketPath: '/c', pid: 7, startTime: '9', exited: new Promise(() => undefined), stop: () => Promise.reject(new Error('not asked for')) },
  })
  return { conversation, commands, signals }
}
const endedCalls = (signals: readonly CoderSignal[]): string[] => signals.flatMap((signal) => (signal.is === 'tool-ended' ? [signal.callId] : []))

describe('a call id that a turn before used', () => {
  test('names no second call of a later turn', async () => {
    const { conversation, commands, signals } = converse([['import', 'Imported session: ses_1'], ['run', line('prt_1', 'call_1')], ['run', line('prt_2', 'call_1'), line('prt_2', 'call_1')]])
    await conversation.createSession('t')
    await conversation.submit(turn('msg_1'))
    await expect.poll(() => signals.some(({ is }) => is === 'turn-ended')).toBe(true)
    await conversation.submit(turn('msg_2'))
    await expect.poll(() => endedCalls(signals)).toEqual(['call_1', 'call_1~prt_2'])
    expect(commands, 'a session that was made here has no history').toEqual(['import', 'run', 'run'])
  })

  test('names no second call in a later process, which tells the first one under its old name', async () => {
    const { conversation, commands, signals } = converse([['export', exported(part('prt_2', 'call_1'), part('prt_1', 'call_1'))], ['run', line('prt_3', 'call_1')], ['run']])
    await conversation.submit(turn('msg_3'))
    await expect.poll(() => endedCalls(signals)).toEqual(['call_1', 'call_1~prt_2', 'call_1~prt_3'])
    await expect.poll(() => signals.some(({ is }) => is === 'turn-ended')).toBe(true)
    await conversation.submit(turn('msg_4'))
    expect(commands).toEqual(['export', 'run', 'run'])
  })
})

test('a turn does not begin when the session’s earlier calls cannot be read', async () => {
  const { conversation, commands } = converse([['export', 'no JSON'], ['export', exported()], ['run']])
  expect(await conversation.submit(turn('msg_1'))).toMatchObject({ ok: false, error: { code: 'submit-failed', message: expect.stringContaining('earlier calls') as string } })
  expect(await conversation.submit(turn('msg_1'))).toEqual({ ok: true, value: null })
  expect(commands).toEqual(['export', 'export', 'run'])
})
