import { test } from '../fixtures.ts'

test('runs the sample task from one click to accepted, without a key', async ({ app }) => {
  const { room } = app
  await room.runSample()
  await room.approve('brief')
  await room.approve('command')
  await room.hasStatus('result-ready', 90_000)
  console.log((await room.rowKinds()).join(' '))
  await app.window.screenshot({ path: 'dist/screens/ready.png' })
})
