import type { Settings } from '../../src-preload/contract/settings.ts'
import { vendorIdOf, type ServingRules } from '../core/gateway/vendor.ts'

/** What the proxy may do: what Settings say, and `MUSE_PROXY_DIRECT=0`, which turns the direct path off whatever they say. A fallback needs a program that was named. */
export function servingRules({ fallbacks: { directEnabled, warmEnabled, execEnabled, vendor } }: Settings, env: NodeJS.ProcessEnv): ServingRules {
  return {
    directEnabled: directEnabled && env['MUSE_PROXY_DIRECT'] !== '0', warmEnabled: warmEnabled && vendor !== undefined, execEnabled: execEnabled && vendor !== undefined,
    vendorLabel: vendor?.label ?? '', vendorId: vendorIdOf(vendor),
  }
}
