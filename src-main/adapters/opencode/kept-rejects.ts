import type { ReplyLedger } from './reply-ledger.ts'

/**
 * When a “reject” may be sent. OpenCode rejects all other open asks of the session with it, which would be an answer that nobody gave: so it
 * is kept back until each of those is answered, or is to be rejected as well. What is allowed never waits for what is kept back.
 */
export interface KeptRejects {
  /** Resolves to what the model is to be told, when the “reject” is to be sent now; null when nobody waits for it any more. */
  whenDue(permissionId: string, message: string): Promise<string | null>
}

interface Kept { readonly sessionId: string; readonly message: string; readonly due: (message: string | null) => void }

/** Follows the ledger; starts with nothing kept back. */
export function createKeptRejects(ledger: ReplyLedger): KeptRejects {
  const kept = new Map<string, Kept>()
  const look = (): void => {
    for (const [permissionId, each] of [...kept]) {
      const over = ledger.over(permissionId)
      if (!over && !ledger.claim(permissionId)) continue
      kept.delete(permissionId)
      each.due(over ? null : toldWith(each, [...kept.values()]))
    }
  }
  ledger.watch(look)
  return {
    whenDue(permissionId, message) {
      const ask = ledger.open(permissionId)
      if (ask === null) return Promise.resolve(message)
      if (kept.has(permissionId)) return Promise.resolve(null)
      return new Promise((due) => {
        kept.set(permissionId, { sessionId: ask.sessionId, message, due })
        ledger.keep(permissionId)
      })
    },
  }
}

/** Those that are rejected with one have no words of their own at OpenCode. */
function toldWith({ sessionId, message }: Kept, others: readonly Kept[]): string {
  const also = new Set(others.filter((other) => other.sessionId === sessionId && other.message !== message).map((other) => other.message))
  return also.size === 0 ? message : `${message} Of what was refused with it: ${[...also].join(' ')}`
}
