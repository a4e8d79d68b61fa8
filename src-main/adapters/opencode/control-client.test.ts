import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createControlClient } from './control-client.ts'
import { json, manualTimers, openStandIn, silent, type ManualTimers, type StandIn } from './stand-in.suite.ts'
import { bodies } from './wire.ts'

let agent: StandIn
let timers: ManualTimers
beforeEach(async () => { timers = manualTimers(); agent = await openStandIn(timers) })
afterEach(async () => { await agent.close() })

describe('a call', () => {
  test('that is never answered ends at its deadline as unanswered: it may have had an effect', async () => {
    agent.routes['POST /x'] = silent
    const outcome = agent.client.call({ method: 'POST', path: '/x', body: {}, deadlineMs: 5_000 })
    await expect.poll(() => agent.seen.length).toBe(1)
    timers.fire(5_000)
    expect(await outcome).toEqual({ is: 'unanswered', why: 'no answer within 5000 ms' })
  })

  test('that finds no server was not sent', async () => {
    const client = createControlClient({ socketPath: '/tmp/countersign-no-such.sock', password: 'x', directory: '/workspace', timers })
    expect(await client.call({ method: 'GET', path: '/x', deadlineMs: 1_000 })).toMatchObject({ is: 'not-sent' })
    await client.close()
  })

  test('whose connection breaks before the answer is unanswered', async () => {
    agent.routes['POST /x'] = (response) => { response.destroy() }
    expect(await agent.client.call({ method: 'POST', path: '/x', deadlineMs: 1_000 })).toMatchObject({ is: 'unanswered' })
  })

  test('names the workspace and the password, and leaves no timer behind', async () => {
    agent.routes['GET /x'] = json([1])
    expect(await agent.client.call({ method: 'GET', path: '/x', deadlineMs: 1_000 })).toEqual({ is: 'answered', status: 200, body: [1] })
    expect(agent.seen[0]?.authorization).toBe(`Basic ${Buffer.from('opencode:pass').toString('base64')}`)
    expect(timers.waiting(1_000)).toBe(0)
  })

  test.each([[json({ not: 'a list' }), 'another shape'], [json([], 500), 'HTTP 500']])('whose answer has not the shape that is needed reads nothing', async (route, why) => {
    agent.routes['GET /permission'] = route
    expect(await agent.client.read({ method: 'GET', path: '/permission', deadlineMs: 1_000 }, bodies.permissions)).toMatchObject({ is: 'unread', why: expect.stringContaining(why) as string })
  })
})

describe('the event stream', () => {
  test('that falls silent is given up after its bound', async () => {
    const stream = agent.client.stream('/event', 25_000, new AbortController().signal)
    await stream.next()
    const next = stream.next()
    await expect.poll(() => timers.waiting(25_000)).toBe(1)
    timers.fire(25_000)
    await expect(next).rejects.toThrow('no event within 25000 ms')
  })

  test('that is refused throws what the server said', async () => {
    agent.routes['GET /event'] = json({}, 401)
    await expect(agent.client.stream('/event', 1_000, new AbortController().signal).next()).rejects.toThrow('HTTP 401')
  })
})
