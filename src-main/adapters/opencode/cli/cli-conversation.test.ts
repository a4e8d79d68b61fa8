import { beforeEach, describe, expect, test } from 'vitest'
import type { AgentProcess, CoderSignal } from '../../../engine/ports.ts'
import type { ControlCall, ControlClient, ControlOutcome } from '../control-client.ts'
import type { Conversation } from '../run.ts'
import { hostTimers, manualClock } from '../support.suite.ts'
import { openCliConversation } from './cli-conversation.ts'
import type { CliOrder } from './runner-client.ts'

const turn = { sessionId: 'ses_1', messageId: 'msg_1', partId: 'prt_1', text: 'Go on.', system: '' } as const
const end = { code: null, signal: 'SIGKILL', words: '', left: 0 }

let signals: CoderSignal[]
let paths: string[]
/** Answers the order to start a run. */
let startRun: (outcome: ControlOutcome) => void
let exit: (how: Awaited<AgentProcess['exited']>) => void
let conversation: Conversation

beforeEach(() => {
  signals = []
  paths = []
  let over = (): void => undefined
  const ended = new Promise<void>((done) => { over = done })
  const begun = new Promise<ControlOutcome>((done) => { startRun = done })
  const exited = new Promise<Awaited<AgentProcess['exited']>>((done) => { exit = done })
  const client: ControlClient = {
    call: ({ path, body }: ControlCall) => {
      // What the session has from before: nothing.
      if ((body as CliOrder | undefined)?.args[0] === 'export') return Promise.resolve({ is: 'answered', status: 200, body: { run: '0' } })
      paths.push(path)
      if (path === '/run') return begun
      over()
      return Promise.resolve({ is: 'answered', status: 200, body: {} })
    },
    read: ({ path }, shape) => Promise.resolve({ is: 'read', value: shape.parse(path === '/run/0/end' ? { ...end, code: 0, signal: null } : end) }),
    async * stream(path) {
      if (path === '/run/0/output') { yield new TextEncoder().encode('{"info":{"id":"ses_1"},"messages":[]}'); return }
      await ended
      yield new Uint8Array()
    },
    close: () => Promise.resolve(),
  }
  conversation = openCliConversation({
    client, clock: manualClock(), timers: hostTimers, log: () => undefined, newSessionId: () => 'ses_1', onSignal: (signal) => { signals.push(signal) },
    ground: { spec: { token: 't', model: { api: 'chat', modelId: 'm', contextTokens: 1_000, outputTokens: 100 }, permissions: { edit: 'allow', bash: 'ask' } }, boot: { password: 'p', nonce: 'n', port: 4_242, places: { workspace: '/workspace', home: '/home/agent', temporary: '/tmp', shell: '/opt/app/shell', proxyBaseUrl: 'http://127.0.0.1:7000/v1', controlPort: 4_096, searchPath: '/usr/local/bin:/usr/bin:/bin' } }, version: '1.18.30', observed: false, operatorEnvironment: {} },
    process: { controlSocketPath: '/c', pid: 7, startTime: '9', exited, stop: () => Promise.reject(new Error('not asked for')) },
  })
})

const started: ControlOutcome = { is: 'answered', status: 200, body: { run: '1' } }

describe('an abort', () => {
  test('of a turn that is just being started waits until it can be killed, and kills it', async () => {
    const sent = conversation.submit(turn)
    const aborted = conversation.abort('ses_1')
    startRun(started)
    expect(await sent).toEqual({ ok: true, value: null })
    expect(await aborted).toMatchObject({ ok: true, value: { observed: true, how: expect.stringContaining('was killed') as string } })
    expect(paths).toEqual(['/run', '/run/1/kill'])
    expect(signals.at(-1)).toMatchObject({ is: 'turn-ended', messageId: 'msg_1', outcome: 'aborted' })
  })

  test('of a turn that could not be started has nothing to kill', async () => {
    const sent = conversation.submit(turn)
    const aborted = conversation.abort('ses_1')
    startRun({ is: 'not-sent', why: 'nobody listens' })
    expect(await sent).toMatchObject({ ok: false, error: { code: 'submit-failed' } })
    expect(await aborted).toMatchObject({ ok: true, value: { observed: true, how: expect.stringContaining('no turn was open') as string } })
    expect(paths).toEqual(['/run'])
  })
})

test('a sandbox that passed a bound says which', async () => {
  exit({ code: null, signal: 'SIGKILL', limitHit: 'used more than 4 GiB of memory' })
  await expect.poll(() => signals).toEqual([{ signalId: 'exit:7:9', sessionId: '', parentSessionId: null, is: 'exited', code: null, signal: 'SIGKILL', limitHit: 'used more than 4 GiB of memory' }])
})
