import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { proveIdentity } from './handshake.ts'
import type { Boot } from './launch-config.ts'
import { json, openStandIn, type Route, type StandIn } from './stand-in.suite.ts'

const boot: Boot = { password: 'pass', nonce: 'boot-1', port: 1, places: { workspace: '/w', home: '/h', temporary: '/t', shell: '/s', proxyBaseUrl: 'http://127.0.0.1:1/v1', controlPort: 1, searchPath: '/usr/bin' } }
const guarded = (answer: unknown): Route => (response, seen) => { (seen.authorization === `Basic ${Buffer.from('opencode:pass').toString('base64')}` ? json(answer) : json({}, 401))(response, seen) }

let agent: StandIn
beforeEach(async () => {
  agent = await openStandIn()
  agent.routes['GET /global/health'] = guarded({ healthy: true, version: '1.18.30' })
  agent.routes['GET /config'] = guarded({ provider: { gw: { name: 'boot-1' } } })
})
afterEach(async () => { await agent.close() })

describe('the proof of identity', () => {
  test('holds for the process of this boot', async () => {
    expect(await proveIdentity(agent.client, boot, '1.18.30')).toBeNull()
  })

  test.each<[string, string, Route]>([
    ['serves whoever has no password', 'GET /global/health', json({ healthy: true, version: '1.18.30' })],
    ['is another version', 'GET /global/health', guarded({ healthy: true, version: '1.18.31' })],
    ['runs on another boot’s configuration', 'GET /config', guarded({ provider: { gw: { name: 'boot-0' } } })],
    ['runs on no configuration of ours', 'GET /config', guarded({ provider: {} })],
    ['answers nonsense', 'GET /config', guarded('hello')],
    ['refuses everybody', 'GET /config', json({}, 401)],
  ])('fails for a server that %s', async (_why, route, answer) => {
    agent.routes[route] = answer
    expect(await proveIdentity(agent.client, boot, '1.18.30')).toMatchObject({ code: 'opencode-failed' })
  })
})
