import { failure } from '../../../src-preload/contract/failure.ts'
import { err, ok } from '../../../src-preload/contract/result.ts'
import type { Peer, Route } from '../../../src-main/core/envelope/mailbox.ts'
import type { Transport } from '../../../src-main/engine/ports.ts'
import type { Random } from '../random.ts'

/** What the network does to what it carries. */
export interface Weather { readonly doubles: number; readonly reorders: boolean }

/** A synthetic network of direct messages between homes: it authenticates its ends, and is otherwise as bad as it is told to be. */
export interface DirectNetwork {
  /** The end of one bot. What is sent through it comes from that bot, whatever is written inside. */
  end(self: Peer): Transport
  /** Delivers what is under way. Gives how much that was. */
  deliver(): number
  /** Puts something on the way as if this end had sent it, for attacks by a peer that controls its own end. */
  inject(route: Route, bytes: Uint8Array): void
  readonly carried: readonly { readonly route: Route; readonly bytes: Uint8Array }[]
  offline: boolean
}

export function createDirectNetwork(random: Random, weather: Weather = { doubles: 0, reorders: false }): DirectNetwork {
  const listeners = new Map<string, (route: Route, bytes: Uint8Array) => void>()
  const carried: { readonly route: Route; readonly bytes: Uint8Array }[] = []
  let under: { readonly route: Route; readonly bytes: Uint8Array }[] = []
  const key = (peer: Peer): string => `${peer.owner}/${peer.bot}`
  const network: DirectNetwork = {
    carried, offline: false,
    end: (self) => ({
      id: 'direct', scope: 'direct',
      send: (conversation, to, bytes) => {
        if (network.offline) return Promise.resolve(err(failure('provider-unreachable', 'The other home cannot be reached.', 'Try again later.')))
        network.inject({ transport: 'direct', scope: 'direct', conversation, from: self, to }, bytes)
        return Promise.resolve(ok(null))
      },
      onArrival: (listener) => { listeners.set(key(self), listener) },
    }),
    inject: (route, bytes) => {
      carried.push({ route, bytes })
      under.push({ route, bytes })
      if (random.chance(weather.doubles)) under.push({ route, bytes })
    },
    deliver: () => {
      const batch = weather.reorders ? random.shuffle(under) : under
      under = []
      for (const { route, bytes } of batch) listeners.get(key(route.to))?.(route, bytes)
      return batch.length
    },
  }
  return network
}
