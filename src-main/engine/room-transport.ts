import { failure } from '../../src-preload/contract/failure.ts'
import { err, ok } from '../../src-preload/contract/result.ts'
import type { Peer, Route } from '../core/envelope/mailbox.ts'
import type { RoomCarrier } from './ports.ts'

/** The way between the two bots of one owner: within the app, at once, in order, and to nobody else. */
export function createRoomTransport(): RoomCarrier {
  const listeners = new Map<string, (route: Route, bytes: Uint8Array) => void>()
  const key = (peer: Peer): string => JSON.stringify([peer.owner, peer.bot])
  return {
    end: (self) => ({
      id: 'room', scope: 'room',
      send: (conversation, to, bytes) => {
        const listener = listeners.get(key(to))
        if (listener === undefined) return Promise.resolve(err(failure('internal', 'Nobody reads at the other end of the room.', 'Restart the app.')))
        listener({ transport: 'room', scope: 'room', conversation, from: self, to }, bytes)
        return Promise.resolve(ok(null))
      },
      onArrival: (listener) => { listeners.set(key(self), listener) },
    }),
  }
}
