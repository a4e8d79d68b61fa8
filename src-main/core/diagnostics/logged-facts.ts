/** Facts of a log line that name a thing of the app, a state or a version. Whatever else a line has is counted, not told. */
const told: ReadonlySet<string> = new Set(['level', 'time', 'taskId', 'effect', 'is', 'code', 'type', 'permissionId', 'sessionId', 'messageId', 'attempt', 'lines', 'left', 'signal', 'limitHit', 'ignored', 'version', 'from', 'to', 'offered', 'has', 'before', 'now'])
/** Facts that hold free text; only their names are told. */
const worded: ReadonlySet<string> = new Set(['error', 'cause', 'stack', 'line', 'message', 'why', 'reason', 'issue', 'backup'])
const idLike = /^[A-Za-z0-9][A-Za-z0-9._:+-]{0,127}$/
/** What the app's own sentences are made of. What they quote stands behind a colon, and is left out. */
const sentence = /^[A-Za-z0-9 ,.()'’“”-]{1,160}/

/** One line of the log as it may leave the machine: the sentence up to its first colon, ids, states, numbers. Of all else, how long it was. */
export function loggedFacts(line: string, redact: (text: string) => string): object {
  const entry = parsed(line)
  if (entry === null) return { withheld: `a line of ${line.length} characters` }
  const withheld: string[] = []
  const facts = Object.fromEntries(Object.entries(entry).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'event' && typeof value === 'string') return [[name, sentence.exec(value.split(':')[0] ?? '')?.[0] ?? '']]
    const safe = typeof value === 'number' || typeof value === 'boolean' || value === null || (typeof value === 'string' && idLike.test(value) && redact(value) === value)
    if (told.has(name) && safe) return [[name, value]]
    withheld.push(`${worded.has(name) || told.has(name) ? name : 'a fact'} of ${(typeof value === 'string' ? value : JSON.stringify(value)).length} characters`)
    return []
  }))
  return withheld.length === 0 ? facts : { ...facts, withheld }
}

function parsed(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Readonly<Record<string, unknown>> : null
  } catch (torn) {
    // A line that a full disk cut off.
    if (torn instanceof SyntaxError) return null
    throw torn
  }
}
