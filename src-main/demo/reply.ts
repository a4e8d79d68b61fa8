/** What the scripted model says next: text, then tool calls. `input` is sent as JSON, keys in the order given. */
export interface Reply {
  readonly text: string
  readonly calls: readonly { readonly tool: string; readonly input: Readonly<Record<string, unknown>> }[]
}

/** A reply of text only. */
export function say(text: string): Reply {
  return { text, calls: [] }
}
