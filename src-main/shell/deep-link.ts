import { taskIdSchema, type TaskId } from '../../src-preload/contract/ids.ts'

const linkScheme = 'countersign'
/** A longer one is no link of ours; nothing of it is looked at. */
const linkCharsMax = 160
const prefix = `${linkScheme}://task/`

/**
 * The task that `countersign://task/ID` names; null for whatever else anybody made of a link. D1. A link comes from outside, from any page
 * or program: it may only choose what is shown, so it carries an id and nothing more: no query, no fragment, no escapes, no other host.
 */
export function linkedTask(link: string): TaskId | null {
  if (link.length > linkCharsMax || !link.startsWith(prefix)) return null
  const parsed = taskIdSchema.safeParse(link.slice(prefix.length))
  return parsed.success ? parsed.data : null
}

/** The task of the one link among the arguments of a start, as Linux and Windows hand them over; null when there is none, or more than one. */
export function linkedTaskIn(args: readonly string[]): TaskId | null {
  const links = args.filter((arg) => arg.toLowerCase().startsWith(`${linkScheme}:`))
  return links.length === 1 && links[0] !== undefined ? linkedTask(links[0]) : null
}
