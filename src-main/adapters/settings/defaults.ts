import { pilotBudget } from '../../../src-preload/contract/budgets.ts'
import { defaultSandboxLimits } from '../../../src-preload/contract/limits.ts'
import type { Provider, Settings } from '../../../src-preload/contract/settings.ts'

/** What holds before the owner changed anything: no provider, nothing leaves the machine. */
export const defaultSettings: Settings = {
  version: 1,
  providers: [],
  defaults: { lead: null, coder: null, budget: pilotBudget, grant: { edits: 'allow', testCommand: 'allow', otherCommands: 'ask' } },
  appearance: { theme: 'system', density: 'comfortable' },
  attention: { notify: true, badge: true, tray: true },
  openCodeBinary: null,
  fallbacks: { directEnabled: true, warmEnabled: false, execEnabled: false },
  // Nothing is asked of any server before the owner wants it.
  updates: 'off',
  sandboxLimits: defaultSandboxLimits,
  workspaceQuotaBytes: 10 * 1024 * 1024 * 1024,
}

export const demoProviderId = 'demo'

/** The built-in demo model. Its address is the gateway's business; the one here is never dialled. */
export const demoProvider: Provider = {
  id: demoProviderId, label: 'Demo model (scripted, built in)', baseUrl: 'http://127.0.0.1/v1', api: 'chat',
  models: [{ id: 'demo', label: 'Demo', contextTokens: 200_000, outputTokens: 32_000, price: { inputMicroUsd: 0, outputMicroUsd: 0, asOf: '2026-11-29' } }],
}
