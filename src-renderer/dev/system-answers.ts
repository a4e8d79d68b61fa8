import type { MethodName } from '../../src-preload/contract/methods.ts'
import { digest, start } from './fixtures.ts'

const version = '0.2.0'
/** By a flag such as `update-waiting`. */
const updates: Readonly<Record<string, unknown>> = {
  unsupported: { is: 'unsupported', why: 'This package comes from no release, so it knows of no place to look for newer ones.' }, checking: { is: 'checking' }, current: { is: 'current', checkedAt: start }, found: { is: 'found', version },
  downloading: { is: 'downloading', version, share: 0.42 }, ready: { is: 'ready', version, waitsFor: null }, waiting: { is: 'ready', version, waitsFor: 'a task is running' }, failed: { is: 'failed', message: 'The update server could not be used (ERR_NAME_NOT_RESOLVED).', at: start },
}

/** What main answers about the app itself; undefined for every other method. */
export function systemAnswer(method: MethodName, flags: ReadonlySet<string>): unknown {
  switch (method) {
    case 'updates.get':
    case 'updates.look':
    case 'updates.download': {
      const flag = [...flags].find((name) => name.startsWith('update-'))
      return updates[flag?.slice('update-'.length) ?? ''] ?? { is: 'idle' }
    }
    case 'diagnostics.preview':
      return { digest: digest(7), text: diagnostics }
    case 'diagnostics.save':
      return { path: '/home/me/countersign-diagnostics.json' }
    case 'link.take':
      return { taskId: null }
    default:
      return undefined
  }
}

const diagnostics = `${JSON.stringify({
  kind: 'countersign-diagnostics', version: 1, at: '2026-11-30T10:00:00.000Z', versions: { app: '0.1.0', electron: '45.5.0', openCode: '1.18.30' }, platform: 'linux x64',
  journal: { events: 430, headHash: digest(530), firstBadSeq: null, openEffects: 1, tasksByStatus: { working: 1, accepted: 12 }, waitingHolds: 1 },
  log: Array.from({ length: 60 }, (_, at) => ({ level: 'error', time: start + at, event: 'a signal was refused', taskId: 'tsk_01JDT5M8ZQ4T9X', is: 'turn-ended', code: 'wrong-state' })),
}, null, 2)}\n`
