import { pino } from 'pino'
import type { Clock } from '../../engine/ports.ts'
import { createRotatingFile } from './rotating-file.ts'

/** Ids, states, counts and digests. Never a prompt, a file's content or a secret. */
export type LogFacts = Readonly<Record<string, string | number | boolean | null>>

/** The diagnostic log. `event` names what happened; what differs goes into `facts`. Never throws. */
export interface Log {
  info(event: string, facts?: LogFacts): void
  warn(event: string, facts?: LogFacts): void
  error(event: string, facts?: LogFacts, cause?: unknown): void
  flush(): Promise<void>
}

const factCharsMax = 500

export interface LogOptions {
  readonly dir: string
  readonly name: string
  readonly clock: Clock
  readonly redact: (text: string) => string
  readonly bytesMax?: number
  readonly keptMax?: number
}

/** Opens `DIR/NAME.jsonl`: one JSON object a line, `{level, time, event, …facts}`. Each text is redacted and cut at 500 characters. */
export function createLog({ dir, name, clock, redact, bytesMax = 5 * 1024 * 1024, keptMax = 4 }: LogOptions): Log {
  const file = createRotatingFile({ dir, name, bytesMax, keptMax, waitingBytesMax: 1024 * 1024 })
  const logger = pino(
    { base: null, messageKey: 'event', timestamp: () => `,"time":${clock.now()}`, formatters: { level: (level) => ({ level }) } },
    { write: (line: string) => { file.write(line.trimEnd()) } },
  )
  const safe = (text: string): string => {
    const redacted = redact(text)
    return redacted.length <= factCharsMax ? redacted : `${redacted.slice(0, factCharsMax)}… (${redacted.length} characters)`
  }
  const checked = (facts: LogFacts): Record<string, unknown> => Object.fromEntries(Object.entries(facts).map(([key, value]) => [key, typeof value === 'string' ? safe(value) : value]))
  return {
    info: (event, facts = {}) => { logger.info(checked(facts), safe(event)) },
    warn: (event, facts = {}) => { logger.warn(checked(facts), safe(event)) },
    error: (event, facts = {}, cause) => { logger.error({ ...checked(facts), ...causeFacts(cause, redact) }, safe(event)) },
    flush: () => file.flush(),
  }
}

const stackCharsMax = 4_000

function causeFacts(cause: unknown, redact: (text: string) => string): Record<string, string> {
  if (cause === undefined) return {}
  if (!(cause instanceof Error)) return { cause: redact(typeof cause === 'string' ? cause : typeof cause).slice(0, factCharsMax) }
  return { cause: redact(`${cause.name}: ${cause.message}`).slice(0, factCharsMax), stack: redact(cause.stack ?? '').slice(0, stackCharsMax) }
}
