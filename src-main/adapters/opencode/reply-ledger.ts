/** Which permission answers are ours. Anybody else's answer is foreign and must be seen (sandbox.md, “command broker”). */
export type Reply = 'once' | 'reject'

export interface ReplyLedger {
  /** An ask of a session is open. */
  asked(permissionId: string, sessionId: string): void
  /** Before our answer is sent. A “reject” makes OpenCode reject the session's other open asks as well: those are ours, too. */
  sending(permissionId: string, reply: Reply): void
  /** OpenCode did not know the ask. True when somebody else's answer must have been why: it was taken for ours when it was seen. */
  refused(permissionId: string): boolean
  /** An answer was seen on the stream. True when it is foreign. */
  seen(permissionId: string, reply: string): boolean
}

interface Entry { sessionId: string | null; sent: Reply | null; seen: boolean }

/** Starts without any ask. */
export function createReplyLedger(): ReplyLedger {
  const entries = new Map<string, Entry>()
  const entryOf = (permissionId: string): Entry => {
    const known = entries.get(permissionId)
    if (known !== undefined) return known
    const entry = { sessionId: null, sent: null, seen: false }
    entries.set(permissionId, entry)
    return entry
  }
  return {
    asked(permissionId, sessionId) { entryOf(permissionId).sessionId = sessionId },
    sending(permissionId, reply) {
      const entry = entryOf(permissionId)
      entry.sent = reply
      if (reply === 'once' || entry.sessionId === null) return
      for (const other of entries.values()) if (other.sessionId === entry.sessionId && !other.seen) other.sent ??= 'reject'
    },
    refused(permissionId) { return entryOf(permissionId).seen },
    seen(permissionId, reply) {
      const entry = entryOf(permissionId)
      const foreign = entry.sent !== reply || entry.seen
      entry.seen = true
      return foreign
    },
  }
}
