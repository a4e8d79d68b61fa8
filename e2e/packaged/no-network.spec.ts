import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { once } from 'node:events'
import { expect, test } from '../fixtures.ts'
import { processesRunning } from '../processes.ts'

const firstRequestWithinMs = 15_000
/** An idle machine takes 4 s. Whatever waits for a network that is not there waits for more than a minute. */
const coderWithinMs = 40_000

test('this suite, the app and its children have no network but loopback', async ({ app }) => {
  const interfaces = (path: string): readonly string[] => readFileSync(path, 'utf8').split('\n').slice(2).flatMap((line) => (line.includes(':') ? [line.split(':')[0]!.trim()] : []))
  const main = app.electron.process().pid!
  expect(interfaces(`/proc/${main}/net/dev`)).toEqual(['lo'])
  expect(readFileSync(`/proc/${main}/net/route`, 'utf8').trim().split('\n')).toHaveLength(1)
  expect(processesRunning(app.ownerFolder, 'countersign').map(({ pid }) => interfaces(`/proc/${pid}/net/dev`).filter((name) => name !== 'lo'))).not.toContainEqual(expect.arrayContaining([expect.anything()]))
  // TEST-NET-1 (RFC 5737): an address that would otherwise only time out.
  const [error] = await once(connect({ host: '192.0.2.1', port: 443 }), 'error') as [NodeJS.ErrnoException]
  expect(error.code).toBe('ENETUNREACH')
})

test('without any network, the first task sends its first model request within 15 seconds, and Bot B waits for nothing that is not there', async ({ app }) => {
  await app.room.runSample()
  await app.room.approve('brief')
  await expect(app.room.tools({ tool: 'read' }).first()).toBeVisible({ timeout: 60_000 })
  const at = (type: string): number => events.find((event) => event.type === type)!.at
  const events = await app.audit()
  const waited = at('call-reserved') - at('task-opened')
  console.log(`first model request after ${waited} ms`)
  expect(waited).toBeLessThan(firstRequestWithinMs)
  const coder = events.find((event) => event.type === 'call-reserved' && (JSON.parse(event.payload) as { bot: string }).bot === 'coder')!
  const granted = events.find((event) => event.type === 'brief-approved')!
  console.log(`first request of the coder ${coder.at - granted.at} ms after the brief was approved`)
  expect(coder.at - granted.at).toBeLessThan(coderWithinMs)
})
