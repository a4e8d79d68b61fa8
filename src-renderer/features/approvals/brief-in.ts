import type { Brief } from '../../../src-preload/contract/task.ts'

type Loose = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): value is string => typeof value === 'string'

function isBrief(value: unknown): value is Brief {
  if (!isObject(value)) return false
  const { goal, scope, criteria, testCommand, excerpts } = value
  if (!isText(goal) || !isText(scope) || !isText(testCommand) || !Array.isArray(criteria) || !Array.isArray(excerpts)) return false
  return criteria.every(isText) && excerpts.every((excerpt) => isObject(excerpt) && isText(excerpt['id']) && isText(excerpt['content']))
}

/**
 * The brief inside the exact bytes of a hold, or null when they are not (only) one. Bytes that hold more than the document
 * would show are not shown as a document: what cannot be shown whole is shown as it is.
 */
export function briefIn(text: string): Brief | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (!isBrief(value)) return null
  const known = new Set(['goal', 'scope', 'criteria', 'testCommand', 'excerpts'])
  if (Object.keys(value).some((key) => !known.has(key))) return null
  return value.excerpts.every((excerpt) => Object.keys(excerpt).every((key) => key === 'id' || key === 'content')) ? value : null
}
