import { z } from 'zod'
import { err, ok, type Result } from '../../../../src-preload/contract/result.ts'
import { judgeVersion } from '../version.ts'

/** How the observer's lines are told from OpenCode's own. */
export const observedType = 'countersign.call'

/** Lines that wait while stdout refuses them; older ones are dropped: the native record of each call still comes. */
const waitingMax = 64

/**
 * The observer: a plugin of OpenCode that says on stdout which tool calls are pending and which have begun, before `opencode run` tells
 * them in their final state. It says ids, the tool's name and the file that a call names; never contents. It imports nothing, and
 * whatever fails in it is kept from OpenCode: then the early rows are missing and nothing else. How often that was says `missed` of the
 * next line.
 */
export const observerScript = `// Countersign's observer. Made by the app, checked before each run; changes are undone.
const waiting = []
const told = new Map()
let missed = 0
const text = (value, max) => typeof value === 'string' && value.length <= max ? value : null
function flush() {
  while (waiting.length > 0) {
    process.stdout.write(waiting[0])
    waiting.shift()
  }
}
function take(event) {
  if (event?.type !== 'message.part.updated') return
  const part = event.properties?.part
  const state = part?.type === 'tool' ? part.state?.status : null
  if (state !== 'pending' && state !== 'running') return
  if (told.get(part.id) === state || told.get(part.id) === 'running') return
  if (told.size > 10000) told.clear()
  told.set(part.id, state)
  const file = text(part.state.input?.filePath, 4096)
  const line = { type: '${observedType}', version: 1, state, sessionID: part.sessionID, messageID: part.messageID, partID: part.id, callID: part.callID, tool: part.tool, ...(file === null ? {} : { file }), ...(missed === 0 ? {} : { missed }) }
  if (waiting.push(JSON.stringify(line) + '\\n') > ${waitingMax}) waiting.shift()
}
export const CountersignObserver = async () => ({
  event: async (input) => {
    // Nothing may reach OpenCode; the next line that can be said says how often it came to this.
    try { take(input?.event) } catch { missed += 1 }
    // A stdout that is full takes it with a later event: it stays first in line. One that never does costs early rows only.
    try { flush() } catch { missed += 1 }
  },
})
`

/** Whether the observer is given to a run: only to the versions whose plugins were tried. The reason is for the owner. */
export function observerAllowed(version: string, operatorEnvironment: Readonly<Record<string, string | undefined>>): Result<null, string> {
  const pure = operatorEnvironment['OPENCODE_PURE']
  if (pure !== undefined && pure !== '' && pure !== '0' && pure.toLowerCase() !== 'false') return err('OPENCODE_PURE is set, which asks for no plugins')
  const judged = judgeVersion(version)
  return judged.ok ? ok(null) : err(judged.error.message)
}

/** One line of the observer. */
export const observedSchema = z.object({
  type: z.literal(observedType), version: z.literal(1), state: z.enum(['pending', 'running']),
  sessionID: z.string(), messageID: z.string(), partID: z.string(), callID: z.string(), tool: z.string(), file: z.string().max(4_096).optional(), missed: z.number().int().optional(),
})
export type Observed = z.infer<typeof observedSchema>
