import type { Settings } from '../../src-preload/contract/settings.ts'
import type { ModelDirectory } from '../engine/ports.ts'
import { servingRules } from './serving-rules.ts'

/**
 * The directory with what may answer instead, where the owner has turned a fallback on: the card that asks for the provider names it. A model
 * for which no card is shown (on this machine, without a key) has none: what it is sent would leave the machine unasked.
 */
export function fallbackAware(directory: ModelDirectory, settings: () => Settings, env: NodeJS.ProcessEnv): ModelDirectory {
  return {
    resolve: (ref) => {
      const target = directory.resolve(ref)
      if (!target.ok || target.value.demo || target.value.api !== 'chat' || !(target.value.remote || target.value.needsKey)) return target
      const { warmEnabled, execEnabled } = servingRules(settings(), env)
      const { vendor } = settings().fallbacks
      if (vendor === undefined || !(warmEnabled || execEnabled)) return target
      const ways = [...(warmEnabled ? ['warm'] : []), ...(execEnabled ? ['exec'] : [])].join(', then ')
      return { ok: true, value: { ...target.value, fallback: `${vendor.label} (${ways}; ${vendor.program}) at ${vendor.hosts.length === 0 ? 'no host' : vendor.hosts.join(', ')}` } }
    },
  }
}
