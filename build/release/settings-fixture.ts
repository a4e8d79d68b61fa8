// node build/release/settings-fixture.ts: writes the settings fixtures of the version in package.json, as each release does once, before its tag:
// settings/VERSION-fresh.json, what a first start leaves, and settings/VERSION-full.json, in which an owner set whatever there is to set, both as the
// app itself writes them. settings-fixture.test.ts loads every one of them for ever. A fixture of a version that was released is never written anew.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { defaultSettings } from '../../src-main/adapters/settings/defaults.ts'
import { openSettings } from '../../src-main/adapters/settings/settings-store.ts'
import { textFiles } from '../../src-main/adapters/system/text-files.ts'
import type { Settings } from '../../src-preload/contract/settings.ts'
import { appVersion } from './version.ts'

const folder = join(import.meta.dirname, 'settings')
const version = appVersion()

/** Each optional member set, each list with something in it, each choice other than its default. */
const fullSettings: Settings = {
  version: 1,
  providers: [
    {
      id: 'example', label: 'Example', baseUrl: 'https://models.example/v1', api: 'responses', keyEnv: 'EXAMPLE_KEY',
      models: [{ id: 'large', label: 'Large', contextTokens: 200_000, outputTokens: 32_000, price: { inputMicroUsd: 2_500_000, outputMicroUsd: 10_000_000, asOf: '2026-11-01' } }, { id: 'small' }],
      exchange: { url: 'https://login.example/token', how: 'client-credentials', method: 'POST', clientId: 'countersign', scope: 'models', audience: 'https://models.example', lifeSeconds: 600 },
    },
    { id: 'local', label: 'On this machine', baseUrl: 'http://127.0.0.1:11434/v1', api: 'chat', models: [{ id: 'small' }] },
  ],
  defaults: {
    lead: { providerId: 'example', modelId: 'large' }, coder: { providerId: 'local', modelId: 'small' }, runtime: 'opencode-run',
    budget: { profile: 'custom', turnsMax: 3, messagesMax: 6, requestsMax: 90, tokensMax: 1_000_000, moneyMicroUsdMax: 5_000_000, deadlineMs: 300_000 }, grant: { edits: 'deny', testCommand: 'ask', otherCommands: 'deny' },
  },
  appearance: { theme: 'dark', density: 'compact', language: 'de' },
  attention: { notify: false, badge: false, tray: false },
  openCodeBinary: '/opt/opencode/opencode',
  fallbacks: {
    directEnabled: false, warmEnabled: true, execEnabled: true,
    vendor: { label: 'Vendor', program: '/opt/vendor/cli', serveArgs: ['serve', '--port', '{port}'], execArgs: ['run', '{promptFile}'], homeFolder: '/home/me/vendor', folders: ['/opt/runtime'], hosts: ['api.vendor.example:443'] },
  },
  updates: 'automatic',
  sandboxLimits: { memoryBytesMax: 2 * 1024 ** 3, processesMax: 256, commandCpuMsMax: 10 * 60_000, fileBytesMax: 512 * 1024 ** 2 },
  workspaceQuotaBytes: 1024 ** 3,
}

const { values } = parseArgs({ options: { again: { type: 'boolean', default: false } } })
mkdirSync(folder, { recursive: true })
for (const [name, settings] of [['fresh', defaultSettings], ['full', fullSettings]] as const) {
  const path = join(folder, `${version}-${name}.json`)
  if (existsSync(path) && !values.again) throw new Error(`${path} exists. --again is for a version that is not released.`)
  const store = await openSettings(path, { ...textFiles, read: () => Promise.resolve(null) }, 16 * 1024 ** 3)
  const written = await store.put(settings)
  if (!written.ok) throw new Error(written.error.message)
  console.log(path)
}
