import type { NewTask } from '../src-preload/contract/methods.ts'
import type { Provider } from '../src-preload/contract/settings.ts'
import type { StubProvider } from './stubs/provider.ts'

/** The scripted provider as an entry of COUNTERSIGN_PROVIDERS: on loopback and without a key, so that no hold is due for it. */
export function stubEntry(provider: StubProvider, api: Provider['api'] = 'chat'): Provider {
  return { id: 'stub', label: 'Scripted provider', baseUrl: provider.baseUrl, api, models: [{ id: 'stub-model' }, { id: 'stub-gpt-model' }] }
}

/** Both bots on the scripted provider. */
export const stubModels: NewTask['models'] = { lead: { providerId: 'stub', modelId: 'stub-model' }, coder: { providerId: 'stub', modelId: 'stub-model' } }

/** The same, with a name for the coder's model by which OpenCode offers `apply_patch` in place of `write` and `edit`. */
export const patchingModels: NewTask['models'] = { ...stubModels, coder: { providerId: 'stub', modelId: 'stub-gpt-model' } }
