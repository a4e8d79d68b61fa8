import type { Conversation, Item, PastCall } from '../conversation.ts'

/** A call of the model with its result, null while there is none. */
export interface Done extends PastCall { readonly result: string | null }

/** The current round: everything since the model last ended with text alone. `prompt` is the round's newest user text. */
export interface Round { readonly first: boolean; readonly prompt: string; readonly done: readonly Done[]; readonly items: readonly Item[] }

/** Cuts the current round out of a conversation. */
export function currentRound(conversation: Conversation): Round {
  const ended = conversation.items.findLastIndex((item) => item.is === 'assistant' && item.calls.length === 0 && item.text.trim() !== '')
  const items = conversation.items.slice(ended + 1)
  const results = new Map(items.flatMap((item) => (item.is === 'result' ? [[item.callId, item.text] as const] : [])))
  const done = items.flatMap((item) => (item.is === 'assistant' ? item.calls : [])).map((call) => ({ ...call, result: results.get(call.id) ?? null }))
  const prompt = items.findLast((item) => item.is === 'user')
  return { first: ended === -1, prompt: prompt?.is === 'user' ? prompt.text : '', done, items }
}

/** All text that the user sent, in order. */
export function userText(conversation: Conversation): string {
  return conversation.items.flatMap((item) => (item.is === 'user' ? [item.text] : [])).join('\n')
}

/** Whether a tool's result says that somebody or some rule did not let it run. */
export function wasRefused(result: string | null): boolean {
  return result === null || /rejected permission|prevents you from using|permission denied by|was denied|denied by the owner|refused|tool execution (?:was )?(?:aborted|interrupted)/i.test(result)
}
