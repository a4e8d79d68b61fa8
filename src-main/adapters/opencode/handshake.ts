import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { ControlClient } from './control-client.ts'
import { providerId, type Boot } from './launch-config.ts'
import { judgeVersion } from './version.ts'
import { bodies } from './wire.ts'

const answerMs = 15_000

/**
 * Proves, before anything is submitted, that what answers on the control socket is the process that we started: it refuses whoever has
 * no password, names the version that was probed, and reads back the nonce that only this boot's configuration holds.
 */
export async function proveIdentity(client: ControlClient, boot: Boot, version: string): Promise<Failure | null> {
  const [anonymous, health, config] = await Promise.all([
    client.call({ method: 'GET', path: '/global/health', deadlineMs: answerMs, anonymous: true }),
    client.read({ method: 'GET', path: '/global/health', deadlineMs: answerMs }, bodies.health),
    client.read({ method: 'GET', path: '/config', deadlineMs: answerMs }, bodies.config),
  ])
  if (anonymous.is !== 'answered') return notOurs(`it does not answer: ${anonymous.why}`)
  if (anonymous.status !== 401) return notOurs('it serves whoever has no password')
  if (health.is === 'unread') return notOurs(`its version could not be read: ${health.why}`)
  const named = judgeVersion(health.value.version)
  if (!named.ok || named.value !== version) return notOurs(`it is version ${health.value.version.slice(0, 40)}, not ${version}`)
  if (config.is === 'unread') return notOurs(`its configuration could not be read: ${config.why}`)
  if (config.value.provider[providerId]?.name !== boot.nonce) return notOurs('it does not run on the configuration that it was given')
  return null
}

function notOurs(why: string): Failure {
  return failure('opencode-failed', `OpenCode started, but it is not as it should be: ${why}.`, 'Try again. If it stays so, use the OpenCode that ships with the app.')
}
