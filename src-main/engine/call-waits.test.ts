import { describe, expect, it } from 'vitest'
import { failure } from '../../src-preload/contract/failure.ts'
import { rowKey, type ModelCall, type TaskRow } from '../../src-preload/contract/rows.ts'
import { sayTurnEnded } from '../adapters/memory/scripted-coder.ts'
import type { GatewayCallEnd } from './ports.ts'
import { working, type InRoom } from './working-room.suite.ts'

const asked = ({ taskId }: InRoom, callNumber: number, bot: 'coder' | 'lead' = 'coder') => ({ callNumber, taskId, bot, model: 'm-1', bodyBytes: 100, api: 'chat' as const })

/** The gateway lets a call out, as it does for each. */
async function call(at: InRoom, callNumber: number, bot: 'coder' | 'lead' = 'coder'): Promise<void> {
  const ask = asked(at, callNumber, bot)
  expect(await at.room.gateway.admit(ask)).toMatchObject({ admit: true })
  at.room.gateway.start(ask)
}

function end(at: InRoom, callNumber: number, change: Partial<GatewayCallEnd>): void {
  at.room.gateway.end({ callNumber, taskId: at.taskId, bot: 'coder', path: 'direct', status: 200, modelAnswered: 'm-1', inputTokens: 1, outputTokens: 1, latencyMs: 5, failure: null, ...change })
}

const refused = (status: number): Partial<GatewayCallEnd> => ({ status, failure: failure('provider-refused', `Vendor answered with status ${String(status)}: Slow down`, 'Wait.') })
const activity = ({ room, taskId }: InRoom): TaskRow['activity'] => (room.engine.room.get(taskId, rowKey.task(taskId)) as TaskRow).activity
function lastCall({ room, taskId }: InRoom): ModelCall {
  const calls = room.engine.room.rows(taskId).flatMap((row) => (row.kind === 'entry' && row.body.is === 'call' ? [row.body.call] : []))
  const last = calls.at(-1)
  if (last === undefined) throw new Error('no call was made')
  return last
}

describe('after a call that its provider failed', () => {
  it.each([[429, 20_000], [503, undefined], [409, undefined]] as const)('the header says that OpenCode tries again, since when and until when (status %i)', async (status, retryAfterMs) => {
    const at = await working()
    await call(at, 11)
    const since = at.room.time.now()
    end(at, 11, { ...refused(status), retryAfterMs })
    expect(activity(at)).toMatchObject({ waitingFor: `the model: OpenCode tries again; attempt 1 failed: Vendor answered with status ${String(status)}: Slow down`, waitingSince: since, nextTryAt: retryAfterMs === undefined ? null : since + retryAfterMs })
  })

  it('says so until the next try leaves, counts the tries, and begins anew after one that was served', async () => {
    const at = await working()
    await call(at, 11)
    end(at, 11, refused(429))
    await call(at, 12)
    expect(activity(at)).toMatchObject({ waitingFor: null, waitingSince: null })
    end(at, 12, { status: null, failure: failure('provider-unreachable', 'Vendor broke off.', 'Try.') })
    expect(activity(at)?.waitingFor).toContain('attempt 2 failed: Vendor broke off.')
    await call(at, 13)
    end(at, 13, {})
    await call(at, 14)
    end(at, 14, refused(500))
    expect(activity(at)?.waitingFor).toContain('attempt 1 failed')
  })

  it('leaves the runtime\'s own word, where it tells of the wait, and ends with the turn', async () => {
    const at = await working()
    const run = at.room.coder.run()
    await call(at, 11)
    run.say({ is: 'retrying', attempt: 1, message: 'rate limit', nextAt: at.room.time.now() + 2_000 })
    end(at, 11, refused(429))
    expect(activity(at)?.waitingFor).toBe('the model: attempt 1 failed: rate limit')
    run.say({ is: 'busy' })
    await call(at, 12)
    end(at, 12, refused(429))
    run.say({ is: 'retrying', attempt: 2, message: 'rate limit', nextAt: at.room.time.now() + 4_000 })
    expect(activity(at)?.waitingFor).toBe('the model: attempt 2 failed: rate limit')
    sayTurnEnded(run, 'no', 'failed')
    await at.room.settle()
    expect(activity(at)?.waitingFor ?? null).toBeNull()
  })

  it('promises no other try after a refusal that ends the turn, a stop, a cap, or a call of Bot A', async () => {
    const at = await working()
    for (const [number, change] of [
      [11, refused(400)], [12, refused(401)], [13, { ...refused(502), final: true }], [14, { status: null, failure: failure('cancelled', 'The client ended the call.', 'Nothing.') }],
      [15, { failure: failure('budget-exhausted', 'Cut.', 'Raise it.') }], [16, { ...refused(503), bot: 'lead' }],
    ] as const) {
      if (at.room.state(at.taskId).phase !== 'coding') break
      await call(at, number, number === 16 ? 'lead' : 'coder')
      end(at, number, change)
      expect(activity(at)?.waitingFor ?? null, String(number)).toBeNull()
    }
  })
})

describe('the row of an open call', () => {
  it('says what the proxy knows it waits for, last that nothing is, and keeps none of it', async () => {
    const at = await working()
    await call(at, 11)
    expect(lastCall(at)).toMatchObject({ state: 'open' })
    expect(lastCall(at).waits, 'the provider\'s first byte').toBeUndefined()
    const since = at.room.time.now()
    for (const waits of [{ for: 'reply', since }, { for: 'silence', since: since + 5 }] as const) {
      at.room.gateway.progress({ callNumber: 11, taskId: at.taskId, bot: 'coder', waits })
      expect(lastCall(at).waits).toEqual(waits)
    }
    end(at, 11, {})
    expect(lastCall(at)).toMatchObject({ state: 'done' })
    expect(lastCall(at)).not.toHaveProperty('waits')
    at.room.gateway.progress({ callNumber: 11, taskId: at.taskId, bot: 'coder', waits: { for: 'reply', since } })
    at.room.gateway.progress({ callNumber: 99, taskId: at.taskId, bot: 'coder', waits: { for: 'reply', since } })
    expect(lastCall(at), 'a late word, and one of no call').not.toHaveProperty('waits')
    expect(JSON.stringify([...at.room.journal.read(at.taskId)])).not.toContain('silence')
  })

  it('waits for nothing after a start that found it lost', async () => {
    const at = await working()
    await call(at, 11)
    at.room.gateway.progress({ callNumber: 11, taskId: at.taskId, bot: 'coder', waits: { for: 'silence', since: 1 } })
    await at.room.restart()
    expect(lastCall(at)).toMatchObject({ state: 'failed' })
    expect(lastCall(at)).not.toHaveProperty('waits')
  })
})
