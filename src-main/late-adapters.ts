import { join } from 'node:path'
import type { SandboxLimits } from '../src-preload/contract/task.ts'
import { createLead } from './adapters/lead/proxy-lead.ts'
import { createKnownVersions, type KnownVersionsDeps } from './adapters/opencode/known-versions.ts'
import { createOpenCodeCoder } from './adapters/opencode/opencode-coder.ts'
import { VendorJobs } from './adapters/proxy/vendor-jobs.ts'
import { createSandbox } from './adapters/sandbox/sandbox.ts'
import { createVendorSandbox } from './adapters/sandbox/vendor-sandbox.ts'
import type { SettingsStore } from './adapters/settings/settings-store.ts'
import { flat } from './adapters/system/log-facts.ts'
import type { Log } from './adapters/system/log.ts'
import { textFiles } from './adapters/system/text-files.ts'
import { createWorkspace } from './adapters/workspace/workspace.ts'
import type { Failing } from './engine/failpoints.ts'
import type { Clock, Coder, Ids, Lead, Sandbox, Timers, Workspace } from './engine/ports.ts'

export interface LateAdaptersDeps extends Failing {
  readonly dataDir: string; readonly runRoot: string; readonly sampleDir: string; readonly bundledBwrapPath: string; readonly shippedOpenCode: KnownVersionsDeps['shipped']
  readonly settings: SettingsStore; readonly clock: Clock; readonly ids: Ids; readonly timers: Timers; readonly log: Log
  /** Asked at each use, since the owner may choose another. */
  readonly openCodeBinary: () => string
}

/** Adapters that no start needs: half of the app's code, loaded when the room has been drawn or a call needs one of them. */
export interface LateAdapters {
  readonly sandbox: Sandbox; readonly lead: Lead; readonly workspace: Workspace; readonly vendorJobs: VendorJobs
  /** `sandbox`: the one to run it in, which can be closed. The same coder each time. */
  coder(sandbox: Sandbox): Coder
}

export function openLateAdapters({ dataDir, runRoot, sampleDir, bundledBwrapPath, shippedOpenCode, settings, clock, ids, timers, log, openCodeBinary, ...life }: LateAdaptersDeps): LateAdapters {
  let coder: Coder | null = null
  const logOpenCode: KnownVersionsDeps['log'] = ({ level, msg, ...facts }) => { log[level](msg, flat(facts)) }
  const versions = createKnownVersions({ path: join(dataDir, 'opencode-versions.json'), shipped: shippedOpenCode, files: textFiles, log: logOpenCode })
  const sandboxLimits = (): SandboxLimits => settings.get().sandboxLimits
  return {
    sandbox: createSandbox({ runRoot, openCodeBinary, bundledBwrapPath, limits: sandboxLimits, clock, ids }, process.platform),
    lead: createLead(),
    workspace: createWorkspace({ ...life, root: join(dataDir, 'tasks'), sampleDir, clock, quotaBytes: () => settings.get().workspaceQuotaBytes, patchDir: join(dataDir, 'patches') }),
    vendorJobs: new VendorJobs({
      sandbox: createVendorSandbox({ runRoot: join(runRoot, 'v'), openCodeBinary, bundledBwrapPath, limits: sandboxLimits, clock }), vendor: () => settings.get().fallbacks.vendor ?? null, homeDir: join(dataDir, 'vendor-home'), runRoot,
      log: (level, message) => { log[level](message) },
    }),
    coder: (sandbox) => coder ??= createOpenCodeCoder({ sandbox, binaryPath: openCodeBinary, clock, ids, timers, filesDir: join(dataDir, 'opencode-run'), versions, log: logOpenCode }),
  }
}
