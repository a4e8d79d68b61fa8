import type { WebContents } from 'electron'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { ApprovalId, CommandId, Digest, TaskId } from '../../../src-preload/contract/ids.ts'
import type { AppInfo, MethodInput, MethodOutput, NewTask, Review } from '../../../src-preload/contract/methods.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { Settings } from '../../../src-preload/contract/settings.ts'
import { isFinished } from '../../core/task/model.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Workspace } from '../../engine/ports.ts'
import type { Updates } from '../../engine/updates.ts'
import type { Push } from './push.ts'
import type { Handlers } from './answer.ts'

/** What the window's calls need, beside the engine. Each is one adapter, wired in `index.ts`. */
export interface Services {
  readonly engine: Engine
  readonly push: Push
  readonly workspace: Workspace
  readonly info: () => Promise<AppInfo>
  readonly sampleTask: (commandId: CommandId) => Promise<Result<NewTask, Failure>>
  readonly settings: { get(): Settings; put(settings: Settings): Promise<Result<null, Failure>> }
  readonly providers: {
    list(): Promise<MethodOutput<'providers.list'>>
    put(input: MethodInput<'provider.put'>): Promise<Result<MethodOutput<'provider.put'>, Failure>>
    remove(id: string): Promise<Result<null, Failure>>
    test(input: MethodInput<'provider.test'>): Promise<Result<MethodOutput<'provider.test'>, Failure>>
  }
  readonly audit: {
    query(input: MethodInput<'audit.query'>): MethodOutput<'audit.query'>
    verify(): Promise<MethodOutput<'audit.verify'>>
    exportTo(path: string, taskId: TaskId | null): Promise<Result<null, Failure>>
  }
  readonly dialogs: { pickFolder(page: WebContents): Promise<string | null>; saveAs(page: WebContents, name: string): Promise<string | null> }
  readonly updates: () => Promise<Updates>
  readonly diagnostics: { preview(): Promise<MethodOutput<'diagnostics.preview'>>; save(digest: Digest, page: WebContents): Promise<Result<MethodOutput<'diagnostics.save'>, Failure>> }
  readonly takeLink: () => TaskId | null
  readonly openAtLogin: { set(on: boolean): Result<null, Failure> }
}

const recorded = ok({ recorded: true as const })

/** The handlers of all methods: each is a few lines between the window and one service. */
export function createHandlers(services: Services): Handlers {
  return { ...roomHandlers(services), ...taskHandlers(services), ...folderHandlers(services), ...settingsHandlers(services), ...auditHandlers(services), ...updateHandlers(services), ...systemHandlers(services), ...diagnosticsHandlers(services) }
}

type Part<K extends keyof Handlers> = Pick<Handlers, K>

function roomHandlers({ info, push, engine }: Services): Part<'app.info' | 'room.snapshot' | 'approval.shown' | 'approval.decide' | 'grant.revoke'> {
  const onHold = (approvalId: ApprovalId, run: (taskId: TaskId) => Result<{ readonly recorded: true }, Failure>): Result<{ recorded: true }, Failure> => {
    const state = engine.taskOfHold(approvalId)
    return state === undefined ? err(failure('unknown-approval', 'This approval is not known.', 'Look at the Approvals tray for what waits now.')) : run(state.taskId)
  }
  return {
    'app.info': async () => ok(await info()),
    'room.snapshot': ({ taskId }, page) => {
      if (taskId !== null) engine.opened(taskId)
      return ok(push.snapshot(page, taskId))
    },
    'approval.shown': ({ approvalId, digest }) => onHold(approvalId, (taskId) => engine.command(taskId, `shown:${approvalId}` as CommandId, { is: 'hold-shown', approvalId, digest })),
    'approval.decide': ({ commandId, approvalId, digest, verdict, reason, standing, amount }) => onHold(approvalId, (taskId) => engine.command(taskId, commandId, { is: 'decide-hold', approvalId, digest, verdict, reason, standing: standing ?? null, ...(amount === undefined || amount === null ? {} : { amount }) })),
    'grant.revoke': ({ commandId, taskId, grantId }) => engine.command(taskId, commandId, { is: 'revoke-grant', grantId }),
  }
}

function taskHandlers({ engine, sampleTask }: Services): Part<'task.create' | 'task.runSample' | 'task.stop' | 'task.writeBrief' | 'task.answer' | 'task.revise' | 'task.recover'> {
  return {
    'task.create': (task) => engine.createTask(task),
    'task.runSample': async ({ commandId }) => {
      const task = await sampleTask(commandId)
      return task.ok ? engine.createTask(task.value) : task
    },
    'task.stop': ({ commandId, taskId }) => engine.command(taskId, commandId, { is: 'stop-task' }),
    'task.writeBrief': ({ commandId, taskId, brief }) => engine.command(taskId, commandId, { is: 'write-brief', brief }),
    'task.answer': ({ commandId, taskId, questionId, text }) => engine.command(taskId, commandId, { is: 'answer-question', questionId, text }),
    'task.recover': ({ commandId, taskId, exit }) => engine.command(taskId, commandId, { is: 'resolve-recovery', exit }),
    'task.revise': async ({ commandId, taskId, requirement }) => {
      const state = engine.state(taskId)
      if (state === undefined) return err(failure('unknown-task', 'This task is not known.', 'Choose a task from the list.'))
      const created = await engine.createTask({
        commandId, title: `${state.title} (revision)`.slice(0, 200), requirement, criteria: [...state.criteria], testCommand: state.testCommand, source: state.source,
        models: { lead: state.targets.lead.ref, coder: state.targets.coder.ref }, budget: state.budget, grant: state.grant, revisionOf: taskId, runtime: state.runtime,
      })
      if (!created.ok) return created
      const linked = engine.command(taskId, `${commandId}-of` as CommandId, { is: 'request-revision', revision: created.value.taskId, requirement })
      return linked.ok ? created : linked
    },
  }
}

function folderHandlers({ engine, workspace, dialogs }: Services): Part<'folder.pick' | 'folder.inspect' | 'review.get' | 'review.savePatch' | 'workspace.remove'> {
  return {
    'folder.pick': async (_input, page) => ok({ path: await dialogs.pickFolder(page) }),
    'folder.inspect': async ({ path }) => ok(await workspace.inspect(path)),
    'review.get': ({ taskId }) => review(engine, workspace, taskId),
    'review.savePatch': async ({ taskId }, page) => {
      const path = await dialogs.saveAs(page, `${taskId}.patch`)
      if (path === null) return ok({ path: null })
      const written = await workspace.writePatch(taskId, path)
      return written.ok ? ok({ path }) : written
    },
    'workspace.remove': async ({ taskId }) => {
      if (engine.state(taskId) !== undefined) {
        // On record before it is done, once: a deletion that breaks off is gone on with at the next click.
        const allowed = engine.command(taskId, `cleaned-up:${taskId}` as CommandId, { is: 'clean-up' })
        if (!allowed.ok) return allowed
      }
      const removed = await workspace.remove(taskId)
      return removed.ok ? recorded : removed
    },
  }
}

async function review(engine: Engine, workspace: Workspace, taskId: TaskId): Promise<Result<Review, Failure>> {
  const state = engine.state(taskId)
  if (state?.evidence == null) return err(failure('wrong-state', 'There is no result to review yet.', 'Wait until the task is result-ready.'))
  const diff = await workspace.diff(taskId, new AbortController().signal)
  if (!diff.ok) return diff
  if (diff.value.treeDigest !== state.evidence.treeDigest && !isFinished(state.status)) {
    engine.resultRead(taskId, diff.value.treeDigest)
    return err(failure('digest-mismatch', 'The workspace is not what was verified.', 'Put the files back and re-check, reject the result, or request a revision.'))
  }
  return ok({ taskId, evidence: state.evidence, verification: state.verification, files: diff.value.files.map(({ change, patch }) => ({ change, patch })), reviewText: state.reviewText, notes: [...(diff.value.notes ?? [])] })
}

function settingsHandlers({ settings, providers, push }: Services): Part<'settings.get' | 'settings.put' | 'providers.list' | 'provider.put' | 'provider.remove' | 'provider.test'> {
  const changed = <T>(result: Result<T, Failure>): Result<T, Failure> => {
    if (result.ok) push.signal({ is: 'app-info-changed' })
    return result
  }
  return {
    'settings.get': () => ok(settings.get()),
    'settings.put': async (next) => { const saved = changed(await settings.put(next)); return saved.ok ? recorded : saved },
    'providers.list': async () => ok(await providers.list()),
    'provider.put': async (input) => changed(await providers.put(input)),
    'provider.remove': async ({ id }) => { const removed = changed(await providers.remove(id)); return removed.ok ? recorded : removed },
    'provider.test': (input) => providers.test(input),
  }
}

function auditHandlers({ audit, dialogs, workspace, engine, settings }: Services): Part<'audit.query' | 'audit.verify' | 'audit.export' | 'workspace.list'> {
  return {
    'audit.query': (input) => ok(audit.query(input)),
    'audit.verify': async () => ok(await audit.verify()),
    'audit.export': async ({ taskId }, page) => {
      const path = await dialogs.saveAs(page, taskId === null ? 'countersign-audit.jsonl' : `countersign-audit-${taskId}.jsonl`)
      if (path === null) return ok({ path: null })
      const written = await audit.exportTo(path, taskId)
      return written.ok ? ok({ path }) : written
    },
    'workspace.list': async () => {
      const uses = (await workspace.usage()).map(({ taskId, bytes }) => {
        const state = engine.state(taskId)
        return { taskId, bytes, title: state?.title ?? taskId, disposable: state === undefined || isFinished(state.status) }
      })
      return ok({ uses, totalBytes: uses.reduce((sum, use) => sum + use.bytes, 0), quotaBytes: settings.get().workspaceQuotaBytes })
    },
  }
}

/** Those that a broken journal does not break: that is when they are wanted. */
export function diagnosticsHandlers({ diagnostics }: Pick<Services, 'diagnostics'>): Part<'diagnostics.preview' | 'diagnostics.save'> {
  return {
    'diagnostics.preview': async () => ok(await diagnostics.preview()),
    'diagnostics.save': ({ digest }, page) => diagnostics.save(digest, page),
  }
}

function systemHandlers({ takeLink, openAtLogin, push }: Services): Part<'login.set' | 'link.take'> {
  return {
    'login.set': ({ on }) => {
      const set = openAtLogin.set(on)
      if (set.ok) push.signal({ is: 'app-info-changed' })
      return set.ok ? recorded : set
    },
    'link.take': () => ok({ taskId: takeLink() }),
  }
}

function updateHandlers({ updates }: Services): Part<'updates.get' | 'updates.look' | 'updates.download' | 'updates.install'> {
  return {
    'updates.get': async () => ok((await updates()).state()),
    'updates.look': async () => ok(await (await updates()).look()),
    // Its progress is asked for; the call itself does not wait for the last byte.
    'updates.download': async () => { const all = await updates(); void all.download(); return ok(all.state()) },
    'updates.install': async () => { const installed = (await updates()).install(); return installed.ok ? recorded : installed },
  }
}
