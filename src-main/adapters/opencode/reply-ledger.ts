/** Which permission answers are ours. Anybody else's answer is foreign and must be seen (sandbox.md, “command broker”). */
export type Reply = 'once' | 'reject'

/** An ask as far as its answer needs it. `command` and `cwd` are null for what is no command. */
export interface OpenAsk { readonly sessionId: string; readonly callId: string | null; readonly command: string | null; readonly cwd: string | null }

export interface ReplyLedger {
  asked(permissionId: string, ask: OpenAsk): void
  /** The ask, while no answer to it was sent or seen. */
  open(permissionId: string): OpenAsk | null
  /** Whether the session has another open ask than this one. */
  othersOpen(permissionId: string): boolean
  /** Before our answer is sent. A “reject” makes OpenCode reject the session's other open asks as well: those answers are ours, too. */
  sending(permissionId: string, reply: Reply): void
  /** OpenCode took our answer. */
  taken(permissionId: string): void
  /** OpenCode did not know the ask. True when somebody else's answer must have been why: it was taken for ours when it was seen. */
  refused(permissionId: string): boolean
  /** An answer was seen on the stream. True when it is foreign. */
  seen(permissionId: string, reply: string): boolean
}

interface Entry { ask: OpenAsk | null; readonly sent: Set<string>; taken: boolean; seen: boolean }

/** Starts without any ask. */
export function createReplyLedger(): ReplyLedger {
  const entries = new Map<string, Entry>()
  const entryOf = (permissionId: string): Entry => {
    const known = entries.get(permissionId)
    if (known !== undefined) return known
    const entry: Entry = { ask: null, sent: new Set(), taken: false, seen: false }
    entries.set(permissionId, entry)
    return entry
  }
  const isOpen = (entry: Entry): boolean => entry.ask !== null && entry.sent.size === 0 && !entry.seen
  const othersOf = (entry: Entry): Entry[] => [...entries.values()].filter((other) => other !== entry && isOpen(other) && other.ask?.sessionId === entry.ask?.sessionId)
  return {
    asked(permissionId, ask) { entryOf(permissionId).ask ??= ask },
    open(permissionId) { const entry = entryOf(permissionId); return isOpen(entry) ? entry.ask : null },
    othersOpen: (permissionId) => othersOf(entryOf(permissionId)).length > 0,
    sending(permissionId, reply) {
      const entry = entryOf(permissionId)
      if (reply === 'reject') for (const other of othersOf(entry)) { other.sent.add('reject'); other.taken = true }
      entry.sent.add(reply)
    },
    taken(permissionId) { entryOf(permissionId).taken = true },
    refused(permissionId) { const entry = entryOf(permissionId); return entry.seen && !entry.taken },
    seen(permissionId, reply) {
      const entry = entryOf(permissionId)
      const foreign = !entry.sent.has(reply) || entry.seen
      entry.seen = true
      return foreign
    },
  }
}
