import type { AppInfo } from '../../../src-preload/contract/methods.ts'
import type { Millis } from '../../../src-preload/contract/ids.ts'
import type { ProviderView, Settings } from '../../../src-preload/contract/settings.ts'
import { loggedFacts } from './logged-facts.ts'

/** The journal as a whole; nothing of what is in it. */
export interface JournalHealth { readonly events: number; readonly headHash: string; readonly firstBadSeq: number | null; readonly schemaVersion: number; readonly openEffects: number; readonly tasksByStatus: Readonly<Record<string, number>>; readonly waitingHolds: number }

export interface DiagnosticsSources {
  readonly at: Millis
  readonly info: AppInfo
  readonly settings: Settings
  readonly providers: readonly ProviderView[]
  /** Null: it cannot be opened; the start problems say so. A failure's code: it cannot be read to its end. */
  readonly journal: JournalHealth | { readonly failure: string } | null
  /** Lines of the log as they are in the file, oldest first. */
  readonly log: readonly string[]
}

/**
 * The diagnostics that an owner may hand to somebody else: versions, choices, counts, digests. G1. Each member is named here one by one: what
 * is not named does not leave, and no text that an owner, a bot or a provider wrote is named. G2. What is left goes through `redact` as well,
 * which knows the keys of this machine, and the owner's home becomes `~`. JSON, to be read before it is saved.
 */
export function diagnosticsText(sources: DiagnosticsSources, { redact, home }: { readonly redact: (text: string) => string; readonly home: string }): string {
  const { info, journal } = sources
  const text = JSON.stringify({
    kind: 'countersign-diagnostics', version: 1, at: new Date(sources.at).toISOString(),
    versions: info.versions, platform: info.platform, memoryBytes: info.memoryBytes, runtime: info.runtimeNote, scriptedOwner: info.scriptedOwner,
    isolation: { usable: info.isolation.usable, level: info.isolation.level, summary: info.isolation.summary, detail: info.isolation.detail, checkedAt: new Date(info.isolation.checkedAt).toISOString(), failure: info.isolation.failure?.code ?? null },
    openCodeFailure: info.openCodeFailure?.code ?? null, proxy: info.proxy.state, keyring: info.keyring, startProblems: info.startProblems.map(({ code }) => code),
    settings: choices(sources.settings), providers: sources.providers.map(withoutNames), journal, log: sources.log.map((line) => loggedFacts(line, redact)),
  }, null, 2)
  return `${homeless(redact(text), home)}\n`
}

function choices({ defaults, appearance, attention, openCodeBinary, fallbacks, updates, sandboxLimits, workspaceQuotaBytes }: Settings): object {
  const { lead, coder, ...start } = defaults
  return {
    defaults: { ...start, leadModel: lead === null ? 'none' : 'chosen', coderModel: coder === null ? 'none' : 'chosen' }, appearance, attention, openCode: openCodeBinary === null ? 'bundled' : 'own', updates, sandboxLimits, workspaceQuotaBytes,
    fallbacks: { directEnabled: fallbacks.directEnabled, warmEnabled: fallbacks.warmEnabled, execEnabled: fallbacks.execEnabled, program: fallbacks.vendor === undefined ? 'none' : 'named' },
  }
}

/** Names and addresses of providers and models may be an organisation's own business. */
function withoutNames({ provider, origin, key, remote }: ProviderView): object {
  return { origin, api: provider.api, remote, key, models: provider.models.length, exchange: provider.exchange?.how ?? null }
}

/** Paths are told from the owner's home on, which often names the owner. */
function homeless(text: string, home: string): string {
  return home.length < 2 ? text : text.replaceAll(JSON.stringify(home).slice(1, -1), '~')
}
