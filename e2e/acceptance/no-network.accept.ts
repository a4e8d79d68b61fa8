import { readFileSync } from 'node:fs'
import { expect, test } from '../fixtures.ts'
import { runHeldJob } from './held-job.ts'
import { runtimesOfOne } from './report.ts'

const firstRequestWithinMs = 15_000

for (const openCode of runtimesOfOne()) {
  test(`3: no network and empty caches, first model request within 15 s, OpenCode ${openCode.version}`, async () => {
    const interfaces = readFileSync('/proc/self/net/dev', 'utf8').split('\n').slice(2).flatMap((line) => line.split(':')[0]?.trim() ?? []).filter((name) => name !== '')
    expect(interfaces, 'this run has nothing but loopback').toEqual(['lo'])
    const timings = await runHeldJob({ name: `3-no-network-${openCode.version}`, openCode, api: 'chat', tool: 'write', contentBytes: 123_090, slow: { holdMs: 10_000 } })
    expect(timings.firstModelRequestAt - timings.taskBegunAt, 'the task\'s first model request').toBeLessThan(firstRequestWithinMs)
    expect(timings.coderFirstRequestAt - timings.briefApprovedAt, 'OpenCode\'s first model request').toBeLessThan(firstRequestWithinMs)
  })
}
