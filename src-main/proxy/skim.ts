/**
 * Whether events of a model's stream may hold anything that the reader looks for: tool calls, usage, an end or an error. Most events hold a
 * word of text and nothing else, and parsing them all would cost more than forwarding them. It errs on the side of reading: the words may
 * stand in the model's own text.
 */
export function mayMatter(api: 'chat' | 'responses'): (events: Buffer) => boolean {
  const pattern = patterns[api]
  const hints = api === 'chat' ? hasChatHint : hasResponsesHint
  return (events) => hints(events) && pattern.test(events.toString('latin1'))
}

const patterns = {
  // What is null or empty says nothing; a finish reason and a usage stand in every chunk of some vendors as null.
  chat: /"(?:tool_calls"\s*:\s*\[\s*[^\]\s]|function_call"\s*:\s*\{|usage"\s*:\s*\{|finish_reason"\s*:\s*"|error"\s*:\s*[^\sn]|object"\s*:\s*"error")/,
  // Everything but the growing texts: `response` is in whatever begins or ends one, calls are named so.
  responses: /"response"\s*:|_call|"error"|function_call/,
} as const

const call = Buffer.from('_call')
const error = Buffer.from('rror"')
const response = Buffer.from('ponse"')

/**
 * Whether the pattern can match at all. What it looks for has one of these in it, which are found many times faster than a pattern: they are
 * short, and begin with a letter that is rare in such streams. (Of a usage only counts of tokens are read.)
 */
function hasChatHint(events: Buffer): boolean {
  if (events.includes(error)) return true
  for (let at = events.indexOf(underscore); at >= 0; at = events.indexOf(underscore, at + 1)) {
    const next = events[at + 1]
    if (next === letterC && events[at + 2] === letterA) return true // _call
    if (next === letterT && events[at + 2] === letterO) return true // _tokens
    if (next === letterR && events[at + 4] === letterS && !isNull(events, at + '_reason"'.length)) return true
  }
  return false
}

function hasResponsesHint(events: Buffer): boolean {
  return events.includes(call) || events.includes(error) || events.includes(response)
}

/** Whether null follows, as it is written nearly always. */
function isNull(events: Buffer, at: number): boolean {
  return events[at] === colon && (events[at + 1] === letterN || (events[at + 1] === blank && events[at + 2] === letterN))
}

const [blank, colon, underscore] = [32, 58, 95]
const [letterA, letterC, letterN, letterO, letterR, letterS, letterT] = [97, 99, 110, 111, 114, 115, 116]
