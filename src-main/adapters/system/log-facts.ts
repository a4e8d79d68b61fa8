import type { LogFacts } from './log.ts'

/** Facts of any shape as a log takes them: what is no plain value becomes its JSON. */
export function flat(fields: Record<string, unknown>): LogFacts {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null ? value : JSON.stringify(value)]))
}
