import { err, ok } from '../../../src-preload/contract/result.ts'
import type { Digest } from '../../../src-preload/contract/ids.ts'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { defaultSandboxLimits } from '../../../src-preload/contract/limits.ts'
import { digestOfText } from '../../core/digest.ts'
import type { Admission, AdmissionAsk, CallProgress, Clock, GatewayCallEnd, Lead, ModelDirectory, ModelGateway, ModelTarget, Notifier, Sandbox, ToolPreview, Workspace } from '../../engine/ports.ts'
import { createGates, type Gates } from './gates.ts'

/** A lead that answers from a list; each answer is taken once. */
export interface ScriptedLead extends Lead { readonly answers: string[]; readonly asked: { readonly system: string; readonly user: string }[]; readonly gates: Gates<'ask'> }

/** `answers`: a list, each taken once, or a rule by what was asked. */
export function createScriptedLead(script: string[] | ((asked: { readonly system: string; readonly user: string }) => string)): ScriptedLead {
  const answers = typeof script === 'function' ? [] : script
  const asked: { system: string; user: string }[] = []
  const gates = createGates<'ask'>()
  return {
    answers, asked, gates,
    ask: async (turn) => {
      const question = { system: turn.system, user: turn.messages.at(-1)?.content ?? '' }
      asked.push(question)
      await gates.pass('ask')
      const text = typeof script === 'function' ? script(question) : answers.shift()
      return text === undefined ? err(failure('provider-unreachable', 'The scripted lead has nothing more to say.', 'Script it.')) : ok({ text })
    },
  }
}

/** A gateway whose callbacks a test can call. */
export interface ScriptedGateway extends ModelGateway { admit(ask: AdmissionAsk): Promise<Admission>; start(ask: AdmissionAsk): void; progress(progress: CallProgress): void; end(end: GatewayCallEnd): void; preview(preview: ToolPreview): void; readonly opened: string[]; readonly closed: string[] }

export function createScriptedGateway(): ScriptedGateway {
  let decide: (ask: AdmissionAsk) => Promise<Admission> = () => Promise.resolve({ admit: false, code: 'none', message: 'nobody decides' })
  let started: (ask: AdmissionAsk) => void = () => undefined
  let progressed: (progress: CallProgress) => void = () => undefined
  let ended: (end: GatewayCallEnd) => void = () => undefined
  let previewed: (preview: ToolPreview) => void = () => undefined
  const opened: string[] = []
  const closed: string[] = []
  return {
    opened, closed,
    open: (grant) => { opened.push(`${grant.taskId}/${grant.bot}`); return Promise.resolve(ok({ token: `token-${grant.bot}-${grant.taskId}`, socketPath: '/scripted.sock' })) },
    close: (taskId) => { closed.push(taskId); return Promise.resolve() },
    onAdmission: (listener) => { decide = listener }, onCallStarted: (listener) => { started = listener }, onCallProgress: (listener) => { progressed = listener }, onCallEnded: (listener) => { ended = listener }, onPreview: (listener) => { previewed = listener },
    admit: (ask) => decide(ask), start: (ask) => { started(ask) }, progress: (progress) => { progressed(progress) }, end: (end) => { ended(end) }, preview: (preview) => { previewed(preview) },
  }
}

/** What a scripted workspace will say; tests change it on the way. `heldTests`: the command of tests that the coder never sees; `copyDigest`: of a clean copy that became another tree; `applyBreaks`: the next apply breaks off without saying how far it came. */
export interface ScriptedWorkspace extends Workspace { treeDigest: Digest; heldTests: string | null; copyDigest: Digest | null; applyRefusal: string | null; applyBreaks: boolean; readonly applied: Digest[]; readonly disposed: string[]; applySeen: 'as-it-was' | 'applied' | 'not-applied' | 'unclear'; prepareRefusal: Failure | null; readonly gates: Gates<'prepare' | 'diff' | 'cleanCopy' | 'apply' | 'observeApply' | 'dispose'> }

export function createScriptedWorkspace(): ScriptedWorkspace {
  const baseDigest = digestOfText('base')
  const workspace: ScriptedWorkspace = {
    treeDigest: digestOfText('result'), heldTests: null, copyDigest: null, applyRefusal: null, applyBreaks: false, applied: [], disposed: [], applySeen: 'as-it-was', prepareRefusal: null, gates: createGates(),
    inspect: (path) => Promise.resolve({ path, label: path, git: null, files: 1, bytes: 1, notes: [], proposals: [], testCommands: [], refusal: null }),
    prepare: async () => { await workspace.gates.pass('prepare'); return workspace.prepareRefusal === null ? ok({ workspaceDir: '/scripted/workspace', stateDir: '/scripted/state', baseDigest, baseCommit: null, files: 2, bytes: 20, notes: [], listing: ['README.md', 'src/a.ts'], readme: null }) : err(workspace.prepareRefusal) },
    locate: () => Promise.resolve({ workspaceDir: '/scripted/workspace', stateDir: '/scripted/state' }),
    readExcerpt: (_taskId, path) => Promise.resolve(ok(`content of ${path}`)),
    diff: async () => { await workspace.gates.pass('diff'); return ok({ treeDigest: workspace.treeDigest, diffDigest: digestOfText('diff'), files: [{ change: { path: 'src/a.ts', status: 'modified', additions: 1, deletions: 1, binary: false }, patch: '--- a\n+++ b\n' }] }) },
    cleanCopy: async () => { await workspace.gates.pass('cleanCopy'); return ok({ dir: '/scripted/copy', treeDigest: workspace.copyDigest ?? workspace.treeDigest, oracleDir: workspace.heldTests === null ? null : '/scripted/oracle', oracleCommand: workspace.heldTests, release: () => Promise.resolve() }) },
    apply: async (_taskId, expected) => {
      await workspace.gates.pass('apply')
      if (workspace.applyBreaks) {
        workspace.applyBreaks = false
        throw new Error('the apply broke off')
      }
      if (workspace.applyRefusal !== null) return err(failure('folder-changed', workspace.applyRefusal, 'Look at the folder.'))
      workspace.applied.push(expected)
      return ok({ how: 'folder', detail: '1 file changed', patchPath: null })
    },
    observeApply: async () => { await workspace.gates.pass('observeApply'); return workspace.applySeen === 'as-it-was' ? (workspace.applied.length > 0 ? 'applied' : 'not-applied') : workspace.applySeen },
    writePatch: () => Promise.resolve(ok(null)),
    dispose: async (taskId) => { await workspace.gates.pass('dispose'); workspace.disposed.push(taskId); return ok(null) },
    remove: () => Promise.resolve(ok(null)),
    usage: () => Promise.resolve([]),
  }
  return workspace
}

/** A sandbox that runs nothing: commands end with the exit codes given. */
export interface ScriptedSandbox extends Sandbox { readonly exitCodes: number[]; /** The end of what each run puts out. */ logTail: string; readonly ran: string[]; readonly orphansAsked: number[]; usable: boolean; readonly gates: Gates<'run'>; running: number }

export function createScriptedSandbox(clock: Clock): ScriptedSandbox {
  const exitCodes: number[] = []
  const ran: string[] = []
  const orphansAsked: number[] = []
  const sandbox: ScriptedSandbox = {
    exitCodes, logTail: 'log', ran, orphansAsked, usable: true, gates: createGates(), running: 0,
    probe: () => Promise.resolve(sandbox.usable
      ? { usable: true, level: 'bubblewrap', summary: 'scripted', detail: '', checkedAt: clock.now(), failure: null }
      : { usable: false, level: 'none', summary: 'none', detail: '', checkedAt: clock.now(), failure: failure('isolation-unavailable', 'No isolation.', 'Install it.') }),
    launch: () => Promise.resolve(err(failure('unavailable', 'A scripted sandbox launches nothing.', 'Use the scripted coder.'))),
    run: async (spec, signal) => {
      ran.push(spec.text)
      sandbox.running += 1
      await sandbox.gates.pass('run')
      sandbox.running -= 1
      if (signal.aborted) return err(failure('cancelled', 'The command was stopped.', 'Nothing to do.'))
      return ok({ askId: 'verify', text: spec.text, cwd: spec.cwd, exitCode: exitCodes.shift() ?? 0, refused: null, logDigest: digestOfText('log'), logTail: sandbox.logTail, durationMs: 1, limitHit: null, limits: defaultSandboxLimits })
    },
    places: () => Promise.resolve(ok({ workspace: '/workspace', home: '/home/agent', temporary: '/tmp', shell: '/opt/app/shell', proxyBaseUrl: 'http://127.0.0.1:7000/v1', controlPort: 4_096, searchPath: '/usr/bin:/bin' })),
    endOrphans: (recorded) => { orphansAsked.push(...recorded.map((process) => process.pid)); return Promise.resolve({ at: clock.now(), method: 'orphans-ended', checkedProcesses: recorded.length, detail: 'scripted' }) },
  }
  return sandbox
}

/** One target for everything. */
export function createScriptedDirectory(change: Partial<ModelTarget> = {}): ModelDirectory {
  return { resolve: (ref) => ok({ ref, providerLabel: 'Scripted', baseUrl: 'http://127.0.0.1:1/v1', api: 'chat', remote: false, demo: true, needsKey: false, contextTokens: 200_000, outputTokens: 32_000, price: null, ...change }) }
}

/** A notifier that keeps the last count. */
export function createScriptedNotifier(): Notifier & { waiting: number } {
  const notifier = { waiting: 0, holdWaiting: (count: number) => { notifier.waiting = count } }
  return notifier
}
