import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ask, codeOf, releaseAll, releaseLater, startProxy, startVendor, type RunningProxy } from './proxy.suite.ts'
import { ClientBudget } from './standalone-budget.ts'
import { loadStandaloneConfig } from './standalone-config.ts'

afterEach(releaseAll)

const price = { inputMicroUsd: 1_000_000, outputMicroUsd: 2_000_000 }
const whole = (usage: object): string => JSON.stringify({ model: 'm-1', choices: [{ message: { content: 'x' }, finish_reason: 'stop' }], usage })

/** A proxy whose one client has these caps, before a vendor that answers as `handle` does. */
async function bench(caps: object, handle: (response: ServerResponse) => void, outputTokensMax = 400): Promise<RunningProxy> {
  let settled = 0
  const budget = new ClientBudget({ requestsMax: 1_000, tokensMax: 1_000_000_000, moneyMicroUsdMax: null, ...caps })
  const running: RunningProxy = await startProxy(await startVendor((request, response) => { request.resume().on('end', () => { handle(response) }) }), {
    admit: (asked) => {
      for (const { end } of running.ofKind('call-ended').slice(settled)) { settled += 1; budget.ended(end) }
      return budget.admit({ ...asked, outputTokensMax, price })
    },
  })
  return running
}

const send = (running: RunningProxy, more: object): ReturnType<typeof ask> => ask(running, { body: JSON.stringify({ model: 'm-1', messages: [], ...more }) })

describe('the budget of a client', () => {
  test('holds against parallel streams of a vendor that keeps to no limit', async () => {
    const running = await bench({ tokensMax: 3_000 }, (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const more = (): void => { if (!response.destroyed) response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(50) } }] })}\n\n`, () => setImmediate(more)) }
      more()
    })
    const replies = await Promise.all(Array.from({ length: 20 }, (_unused, at) => send(running, { stream: true, max_tokens: 100, at })))
    const served = replies.filter(({ status }) => status === 200)
    expect(served.length).toBeGreaterThan(0)
    for (const { text } of served) expect(text).toContain('budget_exhausted')
    await vi.waitFor(() => { expect(running.ofKind('call-ended')).toHaveLength(served.length) })
    // Each was counted as what was reserved for it, and nothing is left for one more.
    expect(served.length).toBeLessThanOrEqual(3_000 / 100)
    expect(codeOf(await send(running, { max_tokens: 3_000 }))).toBe('budget_exhausted')
  })

  test('reserves each of several answers, and takes no name of another API for a limit', async () => {
    const running = await bench({ tokensMax: 5_000 }, (response) => { response.writeHead(200, { 'content-type': 'application/json' }).end(whole({ prompt_tokens: 20, completion_tokens: 400 })) })
    expect([(await send(running, { n: 100, max_tokens: 100 })).status, (await send(running, { n: 20 })).status]).toEqual([403, 403])
    const replies = await Promise.all(Array.from({ length: 30 }, (_unused, at) => send(running, { max_output_tokens: 1, at })))
    const used = running.ofKind('call-ended').reduce((sum, { end }) => sum + (end.inputTokens ?? 0) + (end.outputTokens ?? 0), 0)
    expect(replies.some(({ status }) => status === 200)).toBe(true)
    expect(used).toBeLessThanOrEqual(5_000)
  })

  test('refuses a call that another one’s reservation leaves no room for, and lets the same one through once that has ended small', async () => {
    const waiting: ServerResponse[] = []
    const running = await bench({ tokensMax: 600 }, (response) => { waiting.push(response) })
    const answer = (usage: object): void => { for (const response of waiting.splice(0)) response.writeHead(200, { 'content-type': 'application/json' }).end(whole(usage)) }
    const first = send(running, { at: 1 })
    await vi.waitFor(() => { expect(waiting).toHaveLength(1) })
    const refused = await send(running, { at: 2 })
    expect([refused.status, codeOf(refused)]).toEqual([403, 'budget_exhausted'])
    answer({ prompt_tokens: 5, completion_tokens: 5 })
    expect((await first).status).toBe(200)
    const second = send(running, { at: 2 })
    await vi.waitFor(() => { expect(waiting).toHaveLength(1) })
    answer({ prompt_tokens: 5, completion_tokens: 395 })
    expect((await second).status).toBe(200)
    // What is spent suffices for no more: that is said once, and repeated from memory.
    const asks = running.asks.length
    for (let time = 0; time < 3; time += 1) expect(codeOf(await send(running, { at: 3 }))).toBe('budget_exhausted')
    expect(running.asks).toHaveLength(asks + 1)
  })

  test('bounds no stream where neither tokens nor money are capped, as by default', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cs-budget-'))
    releaseLater(() => { rmSync(folder, { recursive: true, force: true }) })
    const path = join(folder, 'proxy.json')
    writeFileSync(path, JSON.stringify({ port: 0, providers: [{ id: 'a', label: 'A', baseUrl: 'http://127.0.0.1:1/v1', api: 'chat', models: [{ id: 'm' }] }], clients: [{ name: 'dev', token: { env: 'TOKEN' }, models: [{ provider: 'a', model: 'm' }] }] }))
    const config = await loadStandaloneConfig(path, { TOKEN: 't'.repeat(40) })
    const caps = config.ok ? config.value.clients[0]?.budget : undefined
    if (caps === undefined) throw new Error('no budget')
    const asked = { callNumber: 1, bodyBytes: 10, streams: true, outputTokensAsked: null, outputTokensMax: 400, price }
    expect(new ClientBudget(caps).admit(asked)).toEqual({ admit: true })
    expect(new ClientBudget({ ...caps, moneyMicroUsdMax: 5_000 }).admit(asked)).toEqual({ admit: true, outputTokensMax: 400, outputWhole: true })
  })
})
