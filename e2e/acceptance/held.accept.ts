import { test } from '../fixtures.ts'
import { runHeldJob } from './held-job.ts'
import { isShipped, runtimesOfOne, setting } from './report.ts'

const writeBytes = 123_090
const patchBytes = 130_290

for (const openCode of setting.runtimes) {
  for (const api of ['chat', 'responses'] as const) {
    for (const [tool, contentBytes] of [['write', writeBytes], ['apply_patch', patchBytes]] as const) {
      // A share has each tool and each interface on every OpenCode, and their whole product on the one that ships.
      if (setting.share && !isShipped(openCode) && (tool === 'write') !== (api === 'chat')) continue
      test(`1: ${tool} of ${contentBytes.toLocaleString('en-US')} bytes, held half-way for 10 s, ${api}, OpenCode ${openCode.version}`, async () => {
        await runHeldJob({ name: `1-${tool}-${api}-${openCode.version}`, openCode, api, tool, contentBytes, slow: { holdMs: 10_000 } })
      })
    }
  }
}

for (const openCode of runtimesOfOne()) {
  test(`2: arguments held half-way for 40 s, OpenCode ${openCode.version}`, async () => {
    await runHeldJob({ name: `2-hold-40s-${openCode.version}`, openCode, api: 'chat', tool: 'write', contentBytes: writeBytes, slow: { holdMs: 40_000 } })
  })

  test(`2: arguments that trickle for 40 s, OpenCode ${openCode.version}`, async () => {
    await runHeldJob({ name: `2-trickle-40s-${openCode.version}`, openCode, api: 'responses', tool: 'write', contentBytes: 24_000, slow: { trickleMs: 40_000 } })
  })
}
