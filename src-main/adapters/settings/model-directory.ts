import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'
import type { Provider, ProviderView, Settings } from '../../../src-preload/contract/settings.ts'
import type { ModelDirectory, ModelTarget } from '../../engine/ports.ts'
import { demoProvider, demoProviderId } from './defaults.ts'
import { isLoopback } from './loopback.ts'
import type { SettingsStore } from './settings-store.ts'

type KeyState = 'stored' | 'session-only' | 'from-environment' | 'missing'

/** The keys, as far as Settings deals with them. */
export interface ProviderKeys {
  state(owner: { readonly id: string; readonly keyEnv?: string | undefined }): KeyState
  key(owner: { readonly id: string; readonly keyEnv?: string | undefined }): string | null
  put(id: string, key: string): Promise<Result<'stored' | 'session-only', Failure>>
  remove(id: string): Promise<Result<null, Failure>>
}

/** `fromEnvironment`: the providers of the COUNTERSIGN_PROVIDERS file; they go before those of the same id in Settings. */
export interface DirectoryDeps { readonly settings: SettingsStore; readonly fromEnvironment: readonly Provider[]; readonly keys: ProviderKeys }

/** The providers and models that a task can name. */
export interface Providers extends ModelDirectory {
  /** The demo first, then the environment's, then those of Settings. */
  list(): ProviderView[]
  /** Adds or replaces a provider of Settings; `key` null keeps its key, empty takes it away. */
  put(input: { readonly provider: Provider; readonly key: string | null }): Promise<Result<{ readonly key: 'unchanged' | 'stored' | 'session-only' }, Failure>>
  /** Removes a provider of Settings and its key. */
  remove(id: string): Promise<Result<null, Failure>>
  /** For the gateway only. Null: no key is known or none is needed. */
  credential(providerId: string): string | null
}

// What holds for a model whose size nobody stated: small enough for the usual ones.
const contextTokensDefault = 128_000
const outputTokensDefault = 16_000

/** Builds the directory over the current settings; every call looks at them anew. */
export function createModelDirectory(deps: DirectoryDeps): Providers {
  const { settings, fromEnvironment, keys } = deps
  const ofSettings = (): readonly Provider[] => settings.get().providers.filter(({ id }) => !fromEnvironment.some((one) => one.id === id))
  const find = (id: string): Provider | undefined => [demoProvider, ...fromEnvironment, ...ofSettings()].find((provider) => provider.id === id)
  return {
    resolve: (ref) => {
      const provider = find(ref.providerId)
      if (provider === undefined) return err(failure('provider-missing', `There is no provider "${ref.providerId}".`, 'Choose another model, or add the provider in Settings.'))
      const model = provider.models.find(({ id }) => id === ref.modelId)
      if (model === undefined) return err(failure('provider-missing', `${provider.label} has no model "${ref.modelId}".`, 'Choose another model, or add this one to the provider in Settings.'))
      return ok(targetOf(provider, model, keys))
    },
    list: () => [
      viewOf(demoProvider, 'built-in-demo', keys), ...fromEnvironment.map((provider) => viewOf(provider, 'environment', keys)), ...ofSettings().map((provider) => viewOf(provider, 'settings', keys)),
    ],
    put: (input) => putProvider(deps, input),
    remove: async (id) => {
      const provider = settings.get().providers.find((one) => one.id === id)
      if (provider === undefined) return err(failure('provider-missing', `There is no provider "${id}" in Settings.`, 'Providers of the environment and the demo cannot be removed here.'))
      const saved = await settings.put(without(settings.get(), id))
      return saved.ok ? keys.remove(keyOwner(provider).id) : saved
    },
    credential: (providerId) => {
      const provider = find(providerId)
      return provider === undefined || provider.id === demoProviderId ? null : keys.key(keyOwner(provider))
    },
  }
}

/** A key belongs to a provider at one host: it does not follow the provider's name to another address. */
function keyOwner(provider: Provider): { readonly id: string; readonly keyEnv?: string | undefined } {
  return { id: `${provider.id}@${new URL(provider.baseUrl).host}`, keyEnv: provider.keyEnv }
}

/** Remote providers and those that name a variable need a key; a model server on this machine does not, unless the owner gave it one: a key that is there is sent. */
function needsKey(provider: Provider, keys: ProviderKeys): boolean {
  return provider.id !== demoProviderId && (provider.keyEnv !== undefined || !isLoopback(provider.baseUrl) || keys.key(keyOwner(provider)) !== null)
}

function targetOf(provider: Provider, model: Provider['models'][number], keys: ProviderKeys): ModelTarget {
  return {
    ref: { providerId: provider.id, modelId: model.id }, providerLabel: provider.label, baseUrl: provider.baseUrl, api: provider.api,
    remote: !isLoopback(provider.baseUrl), demo: provider.id === demoProviderId, needsKey: needsKey(provider, keys),
    contextTokens: model.contextTokens ?? contextTokensDefault, outputTokens: model.outputTokens ?? outputTokensDefault, price: model.price ?? null, ...(provider.exchange === undefined ? {} : { exchange: provider.exchange }),
  }
}

function viewOf(provider: Provider, origin: ProviderView['origin'], keys: ProviderKeys): ProviderView {
  const state = provider.id === demoProviderId ? 'missing' : keys.state(keyOwner(provider))
  return { provider, origin, remote: !isLoopback(provider.baseUrl), key: state === 'missing' && !needsKey(provider, keys) ? 'none-needed' : state }
}

async function putProvider({ settings, fromEnvironment, keys }: DirectoryDeps, { provider, key }: { readonly provider: Provider; readonly key: string | null }): Promise<Result<{ readonly key: 'unchanged' | 'stored' | 'session-only' }, Failure>> {
  if (fromEnvironment.some(({ id }) => id === provider.id)) return err(failure('invalid-input', `The provider "${provider.id}" comes from the COUNTERSIGN_PROVIDERS file.`, 'Change it in that file, or choose another id.'))
  const current = settings.get()
  const before = current.providers.find(({ id }) => id === provider.id)
  const saved = await settings.put({ ...current, providers: [...current.providers.filter(({ id }) => id !== provider.id), provider] })
  if (!saved.ok) return saved
  const owner = keyOwner(provider).id
  const ownerBefore = before === undefined ? owner : keyOwner(before).id
  const stale = [...(ownerBefore === owner ? [] : [ownerBefore]), ...(key === '' ? [owner] : [])]
  for (const id of stale) {
    const removed = await keys.remove(id)
    if (!removed.ok) return removed
  }
  if (key === null || key === '') return ok({ key: 'unchanged' })
  const stored = await keys.put(owner, key)
  return stored.ok ? ok({ key: stored.value }) : stored
}

function without(settings: Settings, id: string): Settings {
  const unless = (ref: Settings['defaults']['lead']): Settings['defaults']['lead'] => (ref?.providerId === id ? null : ref)
  const { lead, coder } = settings.defaults
  return { ...settings, providers: settings.providers.filter((provider) => provider.id !== id), defaults: { ...settings.defaults, lead: unless(lead), coder: unless(coder) } }
}
