import type { CommandVerdict, WriteWait } from '../../engine/ports.ts'

/**
 * Who may write to a task's workspace: any number of commands, or one edit that was approved by itself. Commands run beside OpenCode and may
 * swap a folder for a link at any moment; so none runs from the last look at an approved edit's paths until the edit was looked at again.
 * Whoever has to wait is told for what (`waits`), each time that becomes something else, and null when it waits no longer.
 */
export interface WriteTurns {
  /** Resolves to true when the command may begin; it then counts as running until `commandEnded`. False: `gone`, or closed. */
  command(askId: string, gone: AbortSignal, waits?: Waits): Promise<boolean>
  commandEnded(askId: string): void
  /** Resolves to true when the edit may be made, alone, until `editEnded`. False: closed. */
  edit(callId: string, waits?: Waits): Promise<boolean>
  editEnded(callId: string): void
  /** The agent is gone: whoever waits is told no. */
  close(): void
}

type Waits = (waitsFor: WriteWait['for']) => void

interface Waiting { readonly is: 'command' | 'edit'; readonly id: string; readonly answer: (may: boolean) => void; readonly waits: Waits; told: WriteWait['for'] }

/**
 * What was decided of a command, once it is its turn. A standing grant that ended while it waited lets nothing through: it is decided anew
 * where it can be, and does not count as running meanwhile, as that may wait for the owner.
 */
export async function decidedInTurn(turns: WriteTurns, askId: string, gone: AbortSignal, decide: () => Promise<CommandVerdict>, waits?: Waits): Promise<CommandVerdict> {
  for (;;) {
    const decided = await decide()
    if (decided.verdict === 'refuse') return decided
    if (!(await turns.command(askId, gone, waits))) return { verdict: 'refuse', reason: 'its caller is gone' }
    if (decided.stands?.() !== false) return decided
    turns.commandEnded(askId)
    if (decided.otherwise !== undefined) return { verdict: 'refuse', reason: decided.otherwise }
  }
}

/** Starts with nobody writing. Commands that wait go before edits that wait: an edit waits for all that runs anyway. */
export function createWriteTurns(): WriteTurns {
  const commands = new Set<string>()
  const waiting = new Set<Waiting>()
  let editing: string | null = null
  let closed = false

  const answer = (each: Waiting, may: boolean): void => {
    waiting.delete(each)
    tell(each, null)
    each.answer(may)
  }
  const next = (): void => {
    begin()
    for (const each of waiting) tell(each, editing === null ? 'command' : 'edit')
  }
  const begin = (): void => {
    for (const each of [...waiting].toSorted((one, other) => one.is.localeCompare(other.is))) {
      if (editing !== null || (each.is === 'edit' && commands.size > 0)) return
      if (each.is === 'edit') editing = each.id
      else commands.add(each.id)
      answer(each, true)
    }
  }
  const wait = (is: Waiting['is'], id: string, gone: AbortSignal | null, waits: Waits = () => undefined): Promise<boolean> => new Promise((resolve) => {
    if (closed || gone?.aborted === true) { resolve(false); return }
    const mine: Waiting = { is, id, answer: resolve, waits, told: null }
    waiting.add(mine)
    gone?.addEventListener('abort', () => { if (waiting.has(mine)) answer(mine, false) }, { once: true })
    next()
  })
  return {
    command: (askId, gone, waits) => wait('command', askId, gone, waits),
    commandEnded(askId) { if (commands.delete(askId)) next() },
    edit: (callId, waits) => wait('edit', callId, null, waits),
    editEnded(callId) { if (editing === callId) { editing = null; next() } },
    close() {
      closed = true
      for (const each of [...waiting]) answer(each, false)
    },
  }
}

function tell(each: Waiting, waitsFor: WriteWait['for']): void {
  if (each.told === waitsFor) return
  each.told = waitsFor
  each.waits(waitsFor)
}
