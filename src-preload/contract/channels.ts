import type { MethodName } from './methods.ts'

/** Every method by name, without its schemas, so that the preload stays small. Complete by type. */
const names = {
  'app.info': true, 'login.set': true, 'link.take': true, 'diagnostics.preview': true, 'diagnostics.save': true, 'room.snapshot': true, 'task.create': true, 'task.runSample': true, 'task.stop': true, 'task.writeBrief': true, 'task.answer': true, 'task.revise': true, 'task.recover': true,
  'approval.shown': true, 'approval.decide': true, 'grant.revoke': true, 'folder.pick': true, 'folder.inspect': true, 'review.get': true, 'review.savePatch': true, 'settings.get': true, 'settings.put': true,
  'providers.list': true, 'provider.put': true, 'provider.remove': true, 'provider.test': true, 'audit.query': true, 'audit.verify': true, 'audit.export': true, 'workspace.list': true, 'workspace.remove': true,
  'updates.get': true, 'updates.look': true, 'updates.download': true, 'updates.install': true,
} as const satisfies Record<MethodName, true>

export const methodNames = Object.keys(names) as MethodName[]

/** The IPC channel of a method. */
export function channelOf(method: MethodName): string {
  return `countersign:${method}`
}

export const patchChannel = 'countersign/patch'
export const signalChannel = 'countersign/signal'
