import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AppInfo } from '../../../src-preload/contract/methods.ts'
import type { ProviderView, Settings } from '../../../src-preload/contract/settings.ts'
import { diagnosticsText, type DiagnosticsSources } from './bundle.ts'
import { loggedFacts } from './logged-facts.ts'

const canaries = ['CanaryKey81f0', 'CanaryHost33', 'CanaryModel7', 'CanaryLabel', 'CanaryPrompt words of a task', 'CanaryVar', 'CanaryProgram', 'CanaryFolder', 'CanaryClient', 'CanaryScope', 'canary-user', 'CanaryBinary', 'CanaryTodo']
const home = '/home/canary-user'
const provider: ProviderView = {
  origin: 'settings', key: 'stored', remote: true,
  provider: { id: 'canarylabel-id', label: 'CanaryLabel', baseUrl: 'https://me:CanaryKey81f0@CanaryHost33.example/v1?key=CanaryKey81f0', api: 'chat', models: [{ id: 'CanaryModel7', label: 'CanaryLabel' }], keyEnv: 'CanaryVar', exchange: { url: 'https://CanaryHost33.example/token', how: 'bearer', clientId: 'CanaryClient', scope: 'CanaryScope' } },
}
const settings: Settings = {
  version: 1, providers: [provider.provider], appearance: { theme: 'dark', density: 'compact' }, attention: { notify: true, badge: false, tray: true }, openCodeBinary: '/opt/CanaryBinary', updates: 'notify', sandboxLimits: { memoryBytesMax: 2 ** 30, processesMax: 128, commandCpuMsMax: 60_000, fileBytesMax: 2 ** 30 }, workspaceQuotaBytes: 1_000_000_000,
  defaults: { lead: { providerId: 'canarylabel-id', modelId: 'CanaryModel7' }, coder: null, budget: { profile: 'pilot', turnsMax: 4, messagesMax: 8, requestsMax: 60, tokensMax: 200_000, moneyMicroUsdMax: null, deadlineMs: 600_000 }, grant: { edits: 'allow', testCommand: 'allow', otherCommands: 'ask' } },
  fallbacks: { directEnabled: true, warmEnabled: true, execEnabled: false, vendor: { label: 'CanaryLabel', program: '/opt/CanaryProgram', serveArgs: ['CanaryProgram'], execArgs: [], homeFolder: '/srv/CanaryFolder', folders: ['/srv/CanaryFolder'], hosts: ['CanaryHost33.example'] } },
}
const info: AppInfo = {
  versions: { app: '0.1.0', electron: '45.5.0', chromium: '152', node: '24', sqlite: '3.53', openCode: '1.18.30' }, openAtLogin: false, memoryBytes: 8 * 1024 ** 3, crashReports: `${home}/.config/Countersign/Crashpad`, runtimeNote: null, platform: 'linux x64', dataDir: `${home}/.config/Countersign`, scriptedOwner: false,
  isolation: { usable: true, level: 'bubblewrap', summary: 'Isolated by bubblewrap', detail: `bubblewrap 0.8.0 at ${home}/bin/bwrap`, checkedAt: 1_800_000_000_000, failure: null },
  openCodeFailure: { code: 'unavailable', message: 'CanaryPrompt words of a task', todo: 'CanaryTodo' }, proxy: { state: 'ready', port: 18_747, note: 'CanaryTodo' }, keyring: { real: true, backend: 'gnome_libsecret' }, startProblems: [{ code: 'settings-broken', message: `${home}/CanaryFolder`, todo: 'CanaryTodo' }],
}
const log = [
  JSON.stringify({ level: 'error', time: 1, event: 'an effect threw', taskId: 'tsk_1', effect: 'start-coder', error: 'Error: CanaryPrompt words of a task at /home/canary-user/x' }),
  JSON.stringify({ level: 'warn', time: 2, event: 'proxy printed', line: 'CanaryKey81f0' }), JSON.stringify({ level: 'warn', time: 3, event: 'a host that was not named was refused: CanaryHost33.example' }),
  JSON.stringify({ level: 'info', time: 4, event: 'OpenCode ended', code: 0, signal: null, CanaryFolder: 1, nested: { CanaryFolder: 'CanaryKey81f0' } }), JSON.stringify({ level: 'error', code: 'CanaryKey81f0', event: 'x' }), '{"level":"error","event":"CanaryPrompt words of', 'null', '[]',
]
const sources: DiagnosticsSources = { at: 1_800_000_000_000, info, settings, providers: [provider], journal: { events: 42, headHash: 'sha256:00', firstBadSeq: null, schemaVersion: 3, openEffects: 1, tasksByStatus: { accepted: 2 }, waitingHolds: 1 }, log }
const with_ = { redact: (text: string): string => text.replaceAll('CanaryKey81f0', '[redacted]'), home }

describe('the diagnostics', () => {
  it('hold nothing that an owner, a bot or a provider wrote, wherever it stood', () => {
    const text = diagnosticsText(sources, with_)
    expect(canaries.filter((canary) => text.includes(canary))).toEqual([])
    expect(text).toContain('~/bin/bwrap')
  })

  it('hold what tells a fault: versions, isolation, choices, the journal\'s health, what the log says happened to which task', () => {
    expect(JSON.parse(diagnosticsText(sources, with_))).toMatchObject({
      kind: 'countersign-diagnostics', versions: { app: '0.1.0', openCode: '1.18.30' }, isolation: { usable: true, level: 'bubblewrap' }, openCodeFailure: 'unavailable', startProblems: ['settings-broken'],
      settings: { openCode: 'own', updates: 'notify', defaults: { leadModel: 'chosen', coderModel: 'none', budget: { profile: 'pilot' } }, fallbacks: { program: 'named' } }, providers: [{ api: 'chat', remote: true, key: 'stored', models: 1, exchange: 'bearer' }],
      journal: { events: 42, headHash: 'sha256:00', firstBadSeq: null, tasksByStatus: { accepted: 2 } },
      log: [{ event: 'an effect threw', taskId: 'tsk_1', effect: 'start-coder', withheld: ['error of 58 characters'] }, { event: 'proxy printed' }, { event: 'a host that was not named was refused' }, { event: 'OpenCode ended', code: 0 }, {}, { withheld: 'a line of 47 characters' }, {}, {}],
    })
  })

  it('say so when there is no journal to tell of', () => {
    expect(JSON.parse(diagnosticsText({ ...sources, journal: null, providers: [], log: [] }, with_))).toMatchObject({ journal: null, providers: [], log: [] })
  })

  it('let no free text of a log line through, whatever the line', () => {
    fc.assert(fc.property(fc.dictionary(fc.string(), fc.oneof(fc.constant('secret words'), fc.record({ deep: fc.constant('secret words') }), fc.integer())), fc.string(), (facts, event) => {
      const left = JSON.stringify(loggedFacts(JSON.stringify({ ...facts, event: `${event}: secret words` }), (text) => text))
      expect(left).not.toContain('secret words')
    }))
  })
})
