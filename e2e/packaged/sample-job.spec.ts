import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '../fixtures.ts'
import { screenshotBoth } from '../screens.ts'

test('runs the sample task from one click to accepted, every step in the log and in order', async ({ app }) => {
  const { room } = app
  await expect(app.window.getByRole('button', { name: 'Run the sample task' })).toBeVisible()
  await screenshotBoth(app, 'first-run')
  await room.runSample()
  await expect(room.hold('brief')).toBeVisible({ timeout: 60_000 })
  await screenshotBoth(app, 'brief-hold')
  await room.approve('brief')
  await expect(room.hold('command')).toBeVisible({ timeout: 90_000 })
  await expect(room.hold('command')).toContainText('bun scripts/check-style.ts')
  await expect(room.tools({ tool: 'bash' }).last()).toHaveAttribute('data-state', 'awaiting-approval')
  await expect(room.tools({ tool: 'bash' }).last(), 'the newest row stays in view when a card opens under it').toBeInViewport()
  await screenshotBoth(app, 'command-hold')
  await room.approve('command')
  await room.hasStatus('result-ready', 90_000)
  await screenshotBoth(app, 'result-ready')
  await room.openReview()
  await expect(app.window.getByRole('region', { name: 'Changes' })).toContainText('shippingCost')
  await screenshotBoth(app, 'review')
  await room.acceptResult()
  await room.hasStatus('accepted')
  await screenshotBoth(app, 'accepted')

  const kinds = await room.rowKinds()
  expectInOrder(kinds, ['message', 'call', 'brief', 'hold', 'tool', 'question', 'answer', 'tool', 'hold', 'evidence', 'verification', 'review', 'applied', 'decision'])
  const paths = await room.transcript.locator('[data-serving-path]').evaluateAll((calls) => calls.map((call) => call.getAttribute('data-serving-path')))
  expect(paths.length).toBeGreaterThanOrEqual(8)
  expect(new Set(paths), 'the serving path of each model call').toEqual(new Set(['direct']))
  await expect(room.transcript.getByRole('group', { name: 'Verification' })).toContainText('Passed')
  await expect(room.transcript.getByRole('group', { name: 'Countersigned' })).toBeVisible()
  await expect(room.tools({ tool: 'write' })).toHaveCount(1)
  await expect(room.spinning).toHaveCount(0)

  expect(await room.level('offlineMock')).toMatchObject({ reached: true, how: expect.stringContaining('demo model') })
  expect(await room.level('realProcess')).toMatchObject({ reached: true, how: expect.stringContaining('OpenCode 1.18.30') })
  expect(await room.level('realModel')).toMatchObject({ reached: false })
  expect(await room.level('humanAcceptance')).toMatchObject({ reached: true })
  expect(app.windowErrors).toEqual([])

  const patchPath = (JSON.parse((await app.audit()).find((event) => event.type === 'accepted')!.payload) as { patchPath: string }).patchPath
  expect(patchPath.startsWith(join(app.userData, 'patches'))).toBe(true)
  expect(readFileSync(patchPath, 'utf8')).toContain('+++ b/src/shipping.ts')
  expect(await app.call('audit.verify', {})).toMatchObject({ firstBadSeq: null })
})

/** `wanted` occurs in `seen` in this order, other things between allowed. */
function expectInOrder(seen: readonly string[], wanted: readonly string[]): void {
  let at = -1
  for (const kind of wanted) {
    const next = seen.indexOf(kind, at + 1)
    expect(next, `${kind} after row ${at} of: ${seen.join(' ')}`).toBeGreaterThan(at)
    at = next
  }
}
