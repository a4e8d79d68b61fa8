/**
 * Whether events of a model's stream may hold anything that the reader looks for: tool calls, usage, an end or an error. Most events hold a
 * word of text and nothing else, and parsing them all would cost more than forwarding them. It errs on the side of reading: the words may
 * stand in the model's own text.
 */
export function mayMatter(api: 'chat' | 'responses'): (events: string) => boolean {
  const pattern = patterns[api]
  return (events) => pattern.test(events)
}

const patterns = {
  // What is null or empty says nothing; a finish reason and a usage stand in every chunk of some vendors as null.
  chat: /"(?:tool_calls"\s*:\s*\[\s*[^\]\s]|function_call"\s*:\s*\{|usage"\s*:\s*\{|finish_reason"\s*:\s*"|error"\s*:\s*[^\sn]|object"\s*:\s*"error")/,
  // Everything but the growing texts: `response` is in whatever begins or ends one, calls are named so.
  responses: /"response"\s*:|_call|"error"|function_call/,
} as const
