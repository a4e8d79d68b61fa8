import { defaultSandboxLimits } from '../../src-preload/contract/limits.ts'
import type { LanguageCode } from '../../src-words/languages.ts'
import type { AuditRow, Bridge, BridgeSignal, MethodName } from '../../src-preload/contract/methods.ts'
import type { HoldRow, Row, RowPatch } from '../../src-preload/contract/rows.ts'
import type { ProviderView, Settings } from '../../src-preload/contract/settings.ts'
import { brief, code, digest, evidence, isolation, start, verification } from './fixtures.ts'
import { systemAnswer } from './system-answers.ts'

const demo: ProviderView = { origin: 'built-in-demo', key: 'none-needed', remote: false, provider: { id: 'demo', label: 'Demo model (scripted, built in)', baseUrl: 'http://127.0.0.1:18748/v1', api: 'chat', models: [{ id: 'demo-1', label: 'Demo model' }] } }
const remote: ProviderView = { origin: 'settings', key: 'session-only', remote: true, provider: { id: 'example', label: 'Example', baseUrl: 'https://api.example.com/v1', api: 'responses', models: [{ id: 'example-large-2026-09', price: { inputMicroUsd: 2_500_000, outputMicroUsd: 10_000_000, asOf: '2026-11-01' } }, { id: 'example-small' }] } }
const fromEnv: ProviderView = { origin: 'environment', key: 'missing', remote: true, provider: { id: 'lab', label: 'Lab gateway', baseUrl: 'https://llm.lab.example/v1', api: 'chat', models: [{ id: 'lab-70b' }], keyEnv: 'LAB_KEY' } }

const settings: Settings = {
  version: 1, providers: [remote.provider], appearance: { theme: 'system', density: 'comfortable' }, attention: { notify: true, badge: true, tray: false }, openCodeBinary: null, fallbacks: { directEnabled: true, warmEnabled: false, execEnabled: false }, updates: 'notify', sandboxLimits: defaultSandboxLimits, workspaceQuotaBytes: 10 * 1024 ** 3,
  defaults: { lead: null, coder: null, budget: { profile: 'pilot', turnsMax: 4, messagesMax: 8, requestsMax: 60, tokensMax: 200_000, moneyMicroUsdMax: null, deadlineMs: 600_000 }, grant: { edits: 'allow', testCommand: 'allow', otherCommands: 'ask' } },
}

const patch = (path: string, before: string, after: string): string => {
  const a = before === '' ? [] : before.trimEnd().split('\n')
  const b = after.trimEnd().split('\n')
  return `--- ${a.length === 0 ? '/dev/null' : `a/${path}`}\n+++ b/${path}\n@@ -${a.length === 0 ? '0,0' : `1,${a.length.toString()}`} +1,${b.length.toString()} @@\n${[...a.map((line) => `-${line}`), ...b.map((line) => `+${line}`)].join('\n')}\n`
}

const auditKinds: readonly (readonly [type: string, summary: string])[] = [
  ['workspace-prepared', '1284 files, 18400000 bytes, base 9f2c1e7ab3d4'], ['brief-approved', 'version 1, input 5d41402abc4b'], ['hold-opened', 'command: Bot B wants to run a command · bun scripts/check-style.ts'], ['permission-ruled', 'granted by the owner: bun scripts/check-style.ts'],
  ['call-settled', 'call 4 direct, status 200, 5120 in, 240 out'], ['tool-ended', 'bash done, exit 0 · call_7'], ['evidence-recorded', '3 files changed, tests exit 0, tree 7d793037a076'], ['verification-ended', 'passed, tests exit 0, held tests exit 0'],
]

const auditRow = (seq: number): AuditRow => {
  const [type, summary] = auditKinds[seq % auditKinds.length] ?? ['claimed', 'Bot B may begin']
  return { seq, at: start + seq * 800, taskId: (seq % 9 === 0 ? null : 'task-1') as AuditRow['taskId'], type, actor: ['owner', 'host', 'coder', 'lead'][seq % 4] ?? 'host', summary, payload: JSON.stringify({ seq, approvalId: 'a1', digest: digest(seq), note: 'payload' }), hash: digest(seq + 100) }
}

/** A main process made of fixtures: answers every method and pushes rows on demand. */
export class FakeMain {
  #seq = 1
  readonly #rows: Map<string, Row>
  readonly #patchListeners = new Set<(patch: RowPatch) => void>()
  readonly #signalListeners = new Set<(signal: BridgeSignal) => void>()
  readonly calls: { readonly method: string; readonly input: unknown }[] = []
  /** While set, patches are numbered and lost. */
  mute = false
  failures = new Map<string, string>()
  /** Every answer, as JSON: what the window shows of it is data, in no language of the window's. */
  readonly said: string[] = []
  settings = settings
  readonly #flags: ReadonlySet<string>

  constructor(rows: readonly Row[], flags: ReadonlySet<string>, language: LanguageCode = 'en') {
    this.#rows = new Map(rows.map((row) => [row.key, row]))
    this.#flags = flags
    this.settings = { ...settings, appearance: { ...settings.appearance, language } }
    if (flags.has('dark')) this.settings = { ...this.settings, appearance: { ...this.settings.appearance, theme: 'dark' } }
    if (flags.has('light')) this.settings = { ...this.settings, appearance: { ...this.settings.appearance, theme: 'light' } }
    if (flags.has('compact')) this.settings = { ...this.settings, appearance: { ...this.settings.appearance, density: 'compact' } }
  }

  push(put: readonly Row[], drop: readonly string[] = []): void {
    this.#seq += 1
    for (const row of put) this.#rows.set(row.key, row)
    for (const key of drop) this.#rows.delete(key)
    const out: RowPatch = { seq: this.#seq, put: [...put], drop: [...drop] }
    if (this.mute) return
    for (const listener of this.#patchListeners) listener(out)
  }

  signal(signal: BridgeSignal): void {
    for (const listener of this.#signalListeners) listener(signal)
  }

  row(key: string): Row | undefined {
    return this.#rows.get(key)
  }

  readonly bridge: Bridge = {
    call: async (method, input) => {
      this.calls.push({ method, input })
      await new Promise((done) => setTimeout(done, this.#flags.has('slow') || (this.#flags.has('slow-audit') && method === 'audit.query') ? 4_000 : 20))
      const failing = this.failures.get(method) ?? (this.#flags.has(`fail-${method}`) ? 'It did not work.' : undefined)
      if (failing !== undefined) return { ok: false, error: { code: 'internal', message: failing, todo: 'Try again, or look into the audit log.' } }
      const value = this.#answer(method, input)
      this.said.push(JSON.stringify(value))
      return { ok: true, value: value as never }
    },
    onPatch: (listener) => {
      this.#patchListeners.add(listener)
      return () => this.#patchListeners.delete(listener)
    },
    onSignal: (listener) => {
      this.#signalListeners.add(listener)
      return () => this.#signalListeners.delete(listener)
    },
  }

  #answer(method: MethodName, input: Record<string, unknown>): unknown {
    switch (method) {
      case 'room.snapshot':
        return { seq: this.#seq, put: [...this.#rows.values()].filter((row) => input['taskId'] === null || (row.kind === 'entry' && row.taskId === input['taskId'])), drop: [] }
      case 'app.info':
        return {
          versions: { app: '0.1.0', electron: '45.5.0', chromium: '152.0.7977.1', node: '24.21.0', sqlite: '3.53.0', openCode: '1.18.30' }, runtimeNote: this.#flags.has('problems') ? 'Electron 33.2.1 is a stand-in for tests and trials; releases ship Electron 45.' : null, platform: 'linux', dataDir: '/home/me/.config/countersign', scriptedOwner: this.#flags.has('scripted'),
          isolation: this.#flags.has('no-isolation') ? { ...isolation, usable: false, level: 'none', summary: 'bubblewrap is not installed, so nothing can be run safely.', failure: { code: 'isolation-unavailable', message: 'bubblewrap is not installed, so nothing can be run safely.', todo: 'Install it (Debian, Ubuntu: sudo apt install bubblewrap; Fedora: sudo dnf install bubblewrap; Arch: sudo pacman -S bubblewrap), then check again.' } } : isolation,
          openCodeFailure: null, openAtLogin: this.#flags.has('no-login') ? null : false, memoryBytes: 16 * 1024 ** 3, crashReports: '/home/me/.config/countersign/Crashpad', proxy: { state: 'ready', port: 18_747, note: null }, keyring: { real: false, backend: 'basic_text' }, startProblems: this.#flags.has('problems') ? [{ code: 'settings-broken', message: 'The settings could not be read (no JSON: Unexpected end of JSON input). They were kept as /home/me/.config/countersign/settings.json.broken; defaults are used.', todo: 'Correct that file and put it back, or set up again in Settings.' }] : [],
        }
      case 'settings.get':
        return this.settings
      case 'settings.put':
        this.settings = input as unknown as Settings
        return { recorded: true }
      case 'providers.list':
        return [demo, remote, fromEnv]
      case 'provider.put':
        return { key: 'session-only' }
      case 'provider.test':
        return { status: 200, modelAnswered: 'example-large-2026-09', latencyMs: 642, text: 'pong' }
      case 'approval.shown': {
        const row = [...this.#rows.values()].find((one): one is HoldRow => one.kind === 'hold' && one.approvalId === input['approvalId'])
        if (row !== undefined) setTimeout(() => { this.push([{ ...row, shownAt: Date.now(), alarm: false }]) }, 20)
        return { recorded: true }
      }
      case 'approval.decide': {
        const row = [...this.#rows.values()].find((one): one is HoldRow => one.kind === 'hold' && one.approvalId === input['approvalId'])
        if (row !== undefined) setTimeout(() => { this.push([{ ...row, outcome: input['verdict'] === 'approved' ? 'approved' : 'denied' }]) }, 80)
        return { recorded: true }
      }
      case 'task.runSample':
      case 'task.create':
      case 'task.revise':
        return { taskId: 'task-1' }
      case 'folder.pick':
        return { path: '/home/me/src/upload-client' }
      case 'folder.inspect':
        return this.#inspect(String(input['path']))
      case 'review.get':
        return this.#review()
      case 'review.savePatch':
      case 'audit.export':
        return { path: '/home/me/countersign-export.jsonl' }
      case 'audit.query': {
        const before = typeof input['beforeSeq'] === 'number' ? input['beforeSeq'] : 431
        const limit = Number(input['limit'])
        return Array.from({ length: Math.max(0, Math.min(limit, before - 1)) }, (_, i) => auditRow(before - 1 - i)).filter((row) => row.summary.includes(String(input['text'])))
      }
      case 'audit.verify':
        return { events: 430, headHash: digest(530), firstBadSeq: null }
      case 'workspace.list':
        return { uses: [{ taskId: 'task-1', title: 'Shipping cost by order value', bytes: 1_240_000, disposable: false }, { taskId: 'task-0', title: 'Add retry to the upload client', bytes: 412_000_000, disposable: true }], totalBytes: 413_240_000, quotaBytes: 10 * 1024 ** 3 }
      default:
        return systemAnswer(method, this.#flags) ?? { recorded: true }
    }
  }

  #inspect(path: string): unknown {
    const base = { path, label: path.split('/').at(-1) ?? path, git: { branch: 'main', commit: '9f2c1e7ab3', dirtyFiles: 3, submodules: 0 }, files: 1_284, bytes: 18_400_000, notes: ['3 files differ from the last commit; the copy is taken as they are now.', 'Left out, links that lead out of the folder: vendor/current.', 'These look like secrets and are part of the copy, so the coder can read them: .env. Ignore them in .gitignore to keep them out.'], testCommands: ['npm test', 'npx vitest run'], refusal: null }
    if (path.includes('huge')) return { ...base, refusal: { code: 'folder-refused', message: 'The folder holds more than 50,000 files that git does not ignore.', todo: 'Choose a smaller folder, or ignore what the task does not need in .gitignore.' } }
    return {
      ...base,
      proposals: [
        { id: 'node_modules', kind: 'dependency', label: 'node_modules (npm packages)', hostPath: `${path}/node_modules`, into: 'node_modules', mode: 'read-only', pathEntry: null },
        { id: 'nvm', kind: 'toolchain', label: 'Node 22.11 of nvm', hostPath: '/home/me/.nvm/versions/node/v22.11.0', into: '/home/me/.nvm/versions/node/v22.11.0', mode: 'read-only', pathEntry: '/home/me/.nvm/versions/node/v22.11.0/bin' },
      ],
    }
  }

  #review(): unknown {
    const big = this.#flags.has('big-diff')
    const long = Array.from({ length: 5_000 }, (_, i) => `export const value${i.toString()} = { id: ${i.toString()}, name: 'row ${i.toString()}' } as const`).join('\n')
    const files = this.#flags.has('no-change') ? [] : [
      { change: evidence.files[0], patch: patch('src/shipping.ts', brief.excerpts[1]?.content ?? '', code) },
      { change: evidence.files[1], patch: patch('src/money.ts', '', "/** Whole cents. */\nexport type Cents = number\n\n/** Cents of a whole number of euros. */\nexport function euros(amount: number): Cents {\n  return amount * 100\n}\n") },
      { change: evidence.files[2], patch: patch('test/shipping.test.ts', "test('pays', () => {\n  expect(shippingCost(5000)).toBe(490)\n})\n", "test('exactly 50 euros pays 1.90', () => {\n  expect(shippingCost(5_000)).toBe(190)\n})\n\ntest('100 euros ship free', () => {\n  expect(shippingCost(10_000)).toBe(0)\n})\n") },
      { change: { path: 'assets/logo.png', status: 'added', additions: 0, deletions: 0, binary: true }, patch: null },
      ...(big ? [{ change: { path: 'src/generated/values.ts', status: 'added', additions: 5_000, deletions: 0, binary: false }, patch: patch('src/generated/values.ts', '', long) }] : []),
    ]
    const verified = !this.#flags.has('unverified')
    return { taskId: 'task-1', evidence: { ...evidence, files: files.map((file) => file.change) }, verification: verified ? verification : { ...verification, passed: false, oracle: { ...verification.oracle, exitCode: 1 } }, files, reviewText: 'The re-run agrees with the evidence, and the held tests for **20.00**, **50.00** and **100.00** pass. The change stays inside its scope.', notes: this.#flags.has('notes') ? ['Left out, links that lead out of the folder: vendor/current.', 'Left out, FIFOs, sockets or devices: tmp/dev.sock.'] : [] }
  }
}
