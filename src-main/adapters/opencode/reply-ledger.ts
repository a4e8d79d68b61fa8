/** Which permission answers are ours. Anybody else's answer is foreign and must be seen (sandbox.md, “command broker”). */
export type Reply = 'once' | 'reject'

/** An ask as far as its answer needs it. `command` and `cwd` are null for what is no command. */
export interface OpenAsk { readonly sessionId: string; readonly callId: string | null; readonly command: string | null; readonly cwd: string | null }

export interface ReplyLedger {
  asked(permissionId: string, ask: OpenAsk): void
  /** The ask, while no answer to it was sent or seen and nothing ended it. */
  open(permissionId: string): OpenAsk | null
  /** Whether a “reject” of this ask could reach another of its session: one that is open, whose answer is under way, or that is known to come. */
  othersOpen(permissionId: string): boolean
  /** The ask is to be rejected as soon as that reaches no other that may still be allowed. */
  keep(permissionId: string): void
  /** True when that is so now for a kept ask: its “reject” then counts as under way. */
  claim(permissionId: string): boolean
  /** Nobody waits for an answer to it any more: it was answered, or its call or turn has ended. */
  over(permissionId: string): boolean
  /** Before our answer is sent. A “reject” makes OpenCode reject the session's other open asks as well: those answers are ours, too. */
  sending(permissionId: string, reply: Reply): void
  /** OpenCode took our answer. */
  taken(permissionId: string): void
  /** Our answer is not under way any more, whatever became of it. */
  answered(permissionId: string): void
  /** Whether it was among those that were rejected with another. */
  rejectedWithAnother(permissionId: string): boolean
  /** OpenCode did not know the ask. True when somebody else's answer must have been why: it was taken for ours when it was seen. */
  refused(permissionId: string): boolean
  /** An answer was seen on the stream. True when it is foreign. */
  seen(permissionId: string, reply: string): boolean
  /** A call has ended, and its asks with it. */
  callEnded(callId: string): void
  /** A turn has ended, or the agent has, and all asks with it. */
  turnEnded(): void
  /** Is called after each change of what is open or under way. */
  watch(changed: () => void): void
}

interface Entry { ask: OpenAsk | null; readonly sent: Set<string>; taken: boolean; seen: boolean; kept: boolean; underWay: boolean; withAnother: boolean; over: boolean }

const isOpen = (entry: Entry): boolean => entry.ask !== null && entry.sent.size === 0 && !entry.seen && !entry.over

/** Starts without any ask. `comes`: whether the session has an ask that is not told yet, as its call does not run yet. */
export function createReplyLedger(comes: (sessionId: string) => boolean = () => false): ReplyLedger {
  const entries = new Map<string, Entry>()
  let changed = (): void => undefined
  const entryOf = (permissionId: string): Entry => {
    const known = entries.get(permissionId)
    if (known !== undefined) return known
    const entry: Entry = { ask: null, sent: new Set(), taken: false, seen: false, kept: false, underWay: false, withAnother: false, over: false }
    entries.set(permissionId, entry)
    return entry
  }
  const othersOf = (entry: Entry): Entry[] => [...entries.values()].filter((other) => other !== entry && other.ask !== null && other.ask.sessionId === entry.ask?.sessionId)
  const reaches = (entry: Entry, which: (other: Entry) => boolean): boolean => (entry.ask !== null && comes(entry.ask.sessionId)) || othersOf(entry).some((other) => other.underWay || (isOpen(other) && which(other)))
  const rejectOthers = (entry: Entry): void => { for (const other of othersOf(entry).filter(isOpen)) { other.sent.add('reject'); other.taken = true; other.withAnother = true } }
  const end = (which: (entry: Entry) => boolean): void => {
    for (const entry of entries.values()) if (which(entry)) entry.over = true
    changed()
  }
  return {
    asked(permissionId, ask) { entryOf(permissionId).ask ??= ask; changed() },
    open(permissionId) { const entry = entryOf(permissionId); return isOpen(entry) ? entry.ask : null },
    othersOpen: (permissionId) => reaches(entryOf(permissionId), () => true),
    keep(permissionId) { entryOf(permissionId).kept = true; changed() },
    claim(permissionId) {
      const entry = entryOf(permissionId)
      if (reaches(entry, (other) => !other.kept)) return false
      entry.underWay = true
      return true
    },
    over(permissionId) { const entry = entryOf(permissionId); return entry.seen || entry.over },
    sending(permissionId, reply) {
      const entry = entryOf(permissionId)
      if (reply === 'reject') rejectOthers(entry)
      entry.sent.add(reply)
      entry.underWay = true
    },
    taken(permissionId) { entryOf(permissionId).taken = true },
    answered(permissionId) { entryOf(permissionId).underWay = false; changed() },
    rejectedWithAnother: (permissionId) => entryOf(permissionId).withAnother,
    refused(permissionId) { const entry = entryOf(permissionId); return entry.seen && !entry.taken },
    seen(permissionId, reply) {
      const entry = entryOf(permissionId)
      const foreign = !entry.sent.has(reply) || entry.seen
      entry.seen = true
      // Those that were asked while our “reject” was under way went with it: OpenCode says so of each, right after this.
      if (!foreign && reply === 'reject' && !entry.withAnother) rejectOthers(entry)
      changed()
      return foreign
    },
    callEnded(callId) { end((entry) => entry.ask?.callId === callId) },
    turnEnded() { end((entry) => entry.ask !== null) },
    watch(listener) { changed = listener },
  }
}
