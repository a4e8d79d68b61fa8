import { afterEach, beforeEach, expect, test } from 'vitest'
import { openBench, order, type Bench } from './sandbox.suite.ts'

let bench: Bench
beforeEach(() => { bench = openBench() })
afterEach(() => bench.close())

test('runs a granted command for the agent with its exact text and directory', async () => {
  const agent = await bench.start()
  const answer = await order(agent, { text: 'printf "%s" "a\'b  ü"; pwd; exit 7' })
  expect(answer).toMatchObject({ code: 7, out: 'a\'b  ü/workspace\n' })
  expect(bench.asks).toEqual([{ askId: 'ask_1', text: 'printf "%s" "a\'b  ü"; pwd; exit 7', cwd: '/workspace' }])
  expect(bench.runs).toMatchObject([{ askId: 'ask_1', exitCode: 7, refused: null, logTail: 'a\'b  ü/workspace\n', limitHit: null }])
})

test('refuses a command without a grant and says so to both sides', async () => {
  bench.verdict = () => Promise.resolve({ verdict: 'refuse', reason: 'no grant' })
  const agent = await bench.start()
  const answer = await order(agent, { text: 'touch /workspace/ran' })
  expect(answer).toMatchObject({ code: 126, out: 'sandbox: refused: no grant\n' })
  expect(bench.runs).toMatchObject([{ exitCode: null, refused: 'no grant' }])
})
test('the probe finds this system usable', async () => {
  expect(await bench.sandbox.probe()).toMatchObject({ usable: true, level: 'bubblewrap' })
})
test('a stop proves that nobody is left', async () => {
  const agent = await bench.start()
  expect(await agent.stop()).toMatchObject({ method: 'pid-namespace-empty' })
})
