import { z } from 'zod'
import { toDemoSchema, type FromDemo } from '../core/gateway/messages.ts'
import { findParent } from '../core/gateway/parent-link.ts'
import { startDemoUpstream } from './upstream-server.ts'

/**
 * The demo provider's process. Under the app it waits for `start` and answers `ready`; started by hand it listens at once, holds
 * as COUNTERSIGN_DEMO_HOLD_MS says and prints its port.
 */
const parent = findParent(process)
if (parent === null) {
  const holdMs = z.coerce.number().int().min(0).max(600_000).parse(process.env['COUNTERSIGN_DEMO_HOLD_MS'] ?? '0')
  void startDemoUpstream(holdMs).then(({ port }) => process.stdout.write(`demo provider listening on http://127.0.0.1:${port}/v1\n`))
} else {
  parent.onClosed(() => process.exit(0))
  parent.onMessage((message) => {
    const order = toDemoSchema.parse(message)
    if (order.is === 'stop') process.exit(0)
    void startDemoUpstream(order.holdMs, order.preferredPort).then(({ port }) => parent.post({ is: 'ready', port } satisfies FromDemo))
  })
}
