/**
 * OpenCode's events → our signals. Free of clocks and of input and output, so that captures replay to the same signals for ever. Events are
 * notifications, not truth: duplicates, gaps and reordering are expected, and a snapshot read from history may be applied at any
 * time. What a part tells only ever moves forward (pending → running → ended), which makes all of that harmless.
 */
import { posix } from 'node:path'
import type { CoderSignal } from '../../engine/ports.ts'
import { callIdSchema, type CallId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { roomName } from '../../core/approval/path-pattern.ts'
import { openCalls, type CallState, type Translation } from './translation.ts'
import type { WireError, WireEvent, WireMessageInfo, WirePermission, WireQuestion, WireReasoningPart, WireStatus, WireTextPart, WireToolPart } from './wire.ts'

export type Translated =
  | { readonly is: 'signal'; readonly signal: CoderSignal }
  /** The command that would run is not the one that is asked for: never shown, never allowed. */
  | { readonly is: 'refuse'; readonly permissionId: string; readonly sessionId: string; readonly reason: string }
  /** The session says that it is idle; whether its turn has ended is read from history. Told each time. */
  | { readonly is: 'idle-seen'; readonly sessionId: string }
  | { readonly is: 'session-error'; readonly sessionId: string | null; readonly error: WireError | null }

/** A text that grows beyond this is told no further until its whole comes, and then its beginning. */
const textCharsMax = 1024 * 1024
const toolCharsMax = 200
/** How much of a vendor's call id stands in one of ours that was made of it. */
const callIdCharsShown = 100

/**
 * Takes one event in and tells what it means. `revision` makes the ids of status signals, which have no id of their own: OpenCode's event id.
 */
export function translate(state: Translation, event: WireEvent, revision: string): readonly Translated[] {
  switch (event.kind) {
    case 'connected': case 'heartbeat': return []
    case 'session': takeSession(state, event.info.id).parentSessionId = event.info.parentID ?? null; return []
    case 'status': return takeStatus(state, event.sessionID, event.status, revision)
    case 'session-error': return [{ is: 'session-error', sessionId: event.sessionID, error: event.error }]
    case 'message': return takeMessage(state, event.info)
    case 'part': return event.part === null ? [] : event.part.type === 'tool' ? takeTool(state, event.part) : takeText(state, event.part, false)
    case 'delta': return event.field === 'text' ? takeDelta(state, event.partID, event.delta) : []
    case 'permission-asked': return takePermission(state, event.ask)
    case 'permission-replied': return [signal(state, event.sessionID, `${event.requestID}:replied:${event.reply}`, { is: 'permission-replied', permissionId: event.requestID, reply: event.reply })]
    case 'question-asked': return takeQuestion(state, event.ask)
  }
}

/** Applies a message as history tells it. What was missed is told now; what was told is not told again. */
export function takeSnapshot(state: Translation, info: WireMessageInfo, parts: readonly (WireTextPart | WireReasoningPart | WireToolPart)[]): readonly Translated[] {
  return [...takeMessage(state, info), ...parts.flatMap((part) => part.type === 'tool' ? takeTool(state, part) : takeText(state, part, true))]
}

/** After a broken stream: texts that were growing may miss pieces. Their deltas count no more; their whole will. */
export function noteGap(state: Translation): void {
  for (const text of state.texts.values()) if (!text.done) text.gapped = true
}

/** Ends every open call of these sessions (of all when none are named) as interrupted: its process is gone, or its turn is. */
export function interruptCalls(state: Translation, why: string, sessionIds?: ReadonlySet<string>): readonly Translated[] {
  return openCalls(state, sessionIds).map((call) => endCall(state, call, { outcome: 'interrupted', input: call.input, output: call.output ?? why, title: null, exitCode: null }))
}

function takeSession(state: Translation, sessionId: string): { parentSessionId: string | null; status: 'unknown' | 'idle' | 'busy' | 'retry' } {
  const known = state.sessions.get(sessionId)
  if (known !== undefined) return known
  const session = { parentSessionId: null, status: 'unknown' as const }
  state.sessions.set(sessionId, session)
  return session
}

type Body<S> = S extends unknown ? Omit<S, 'signalId' | 'sessionId' | 'parentSessionId'> : never

function signal(state: Translation, sessionId: string, signalId: string, body: Body<CoderSignal>): Translated {
  const parentCallId = state.parentCalls.get(sessionId)
  return { is: 'signal', signal: { signalId, sessionId, parentSessionId: state.sessions.get(sessionId)?.parentSessionId ?? null, ...(parentCallId === undefined ? {} : { parentCallId }), ...body } as CoderSignal }
}

function takeStatus(state: Translation, sessionId: string, status: WireStatus, revision: string): readonly Translated[] {
  const session = takeSession(state, sessionId)
  const changed = session.status !== status.type
  session.status = status.type
  if (status.type === 'retry') return [signal(state, sessionId, `${sessionId}:retry:${status.attempt}:${status.next}`, { is: 'retrying', attempt: status.attempt, message: status.message.slice(0, limits.progressCharsMax), nextAt: Math.max(0, Math.round(status.next)) })]
  const told = changed ? [signal(state, sessionId, `${sessionId}:${status.type}:${revision}`, { is: status.type })] : []
  return status.type === 'idle' ? [...told, { is: 'idle-seen', sessionId }] : told
}

function takeMessage(state: Translation, info: WireMessageInfo): readonly Translated[] {
  const known = state.roles.has(info.id)
  state.roles.set(info.id, info.role)
  takeSession(state, info.sessionID)
  if (known || info.role === 'user') return []
  // Parts that came before their message were held back: only now is it known that they are not the user's.
  return [...state.texts].filter(([, text]) => text.messageId === info.id).flatMap(([partId]) => textSignal(state, partId))
}

function takeText(state: Translation, part: WireTextPart | WireReasoningPart, fromHistory: boolean): readonly Translated[] {
  if (part.type === 'text' && (part.synthetic === true || part.ignored === true)) return []
  const done = part.time?.end !== undefined
  const known = state.texts.get(part.id)
  if (known === undefined) {
    // History holds no text that is still growing: a text first seen there lacks what was streamed before.
    state.texts.set(part.id, { sessionId: part.sessionID, messageId: part.messageID, reasoning: part.type === 'reasoning', text: part.text.slice(0, textCharsMax), done, gapped: fromHistory && !done })
    return part.text === '' && !done ? [] : textSignal(state, part.id)
  }
  if (known.done || (!done && part.text.length <= known.text.length)) return []
  known.text = part.text.slice(0, textCharsMax)
  known.done = done
  return textSignal(state, part.id)
}

function takeDelta(state: Translation, partId: string, delta: string): readonly Translated[] {
  const known = state.texts.get(partId)
  if (known === undefined || known.done || known.gapped || delta === '') return []
  if (known.text.length + delta.length > textCharsMax) { known.gapped = true; return [] }
  known.text += delta
  return textSignal(state, partId)
}

function textSignal(state: Translation, partId: string): readonly Translated[] {
  const text = state.texts.get(partId)
  if (text === undefined || state.roles.get(text.messageId) !== 'assistant') return []
  return [signal(state, text.sessionId, `${partId}:${text.text.length}${text.done ? ':done' : ''}`, { is: 'text', partId, reasoning: text.reasoning, text: text.text, done: text.done })]
}

function takeTool(state: Translation, part: WireToolPart): readonly Translated[] {
  const known = state.calls.get(part.id)
  const call = known ?? newCall(state, part)
  if (call.stage === 'ended') return []
  noteChild(state, call, part)
  switch (part.state.status) {
    case 'pending': return known === undefined ? [signal(state, call.sessionId, `${part.id}:pending`, { is: 'tool-pending', callId: call.callId, tool: call.tool, ...(call.vendorCallId === call.callId ? {} : { wireCallId: call.vendorCallId }) })] : []
    case 'running': return takeRunning(state, call, part)
    case 'completed': case 'error': return [endCall(state, call, endingOf(call, part))]
  }
}

/** A subagent's session is named in the metadata of the call that began it. */
function noteChild(state: Translation, call: CallState, part: WireToolPart): void {
  const child = part.state.status === 'pending' || part.tool !== 'task' ? null : textField(part.state.metadata, 'sessionId')
  if (child !== null && child !== call.sessionId) state.parentCalls.set(child, call.callId)
}

function newCall(state: Translation, part: WireToolPart): CallState {
  const call: CallState = { partId: part.id, sessionId: part.sessionID, messageId: part.messageID, vendorCallId: part.callID, callId: ownCallId(state, part), tool: clippedTool(part.tool), stage: 'pending', input: {}, output: null }
  state.calls.set(part.id, call)
  state.callIds.add(call.callId)
  state.callParts.set(callKey(part.messageID, part.callID), part.id)
  return call
}

/** The vendor's call id where it can be one: given, not too long, and of no other call. Else it is told apart by its part: no call may go unseen because of its id. */
function ownCallId(state: Translation, { id, callID }: WireToolPart): CallId {
  const given = callIdSchema.safeParse(callID)
  return given.success && !state.callIds.has(given.data) ? given.data : callIdSchema.parse(`${callID.slice(0, callIdCharsShown)}~${id}`)
}

/** A name that no tool has can be of any length; what is shown of it can not. */
function clippedTool(tool: string): string {
  return tool.slice(0, toolCharsMax)
}

function takeRunning(state: Translation, call: CallState, part: WireToolPart): readonly Translated[] {
  if (part.state.status !== 'running') return []
  const output = textField(part.state.metadata, 'output')
  const first = call.stage === 'pending'
  if (!first && (output === null || output === call.output)) return []
  call.stage = 'running'
  call.tool = namedTool(call, part)
  call.input = part.state.input
  call.output = output ?? call.output
  const running = signal(state, call.sessionId, `${part.id}:running:${call.output?.length ?? '-'}`, { is: 'tool-running', callId: call.callId, tool: call.tool, input: call.input, output: call.output === null ? null : bounded(call.output) })
  return first ? [running, ...releaseAsks(state, call)] : [running]
}

interface Ending { readonly outcome: 'done' | 'failed' | 'interrupted'; readonly input: Readonly<Record<string, unknown>>; readonly output: string; readonly title: string | null; readonly exitCode: number | null }

function endCall(state: Translation, call: CallState, ending: Ending): Translated {
  call.stage = 'ended'
  for (const [id, ask] of state.waitingAsks) if (ask.tool?.callID === call.vendorCallId && ask.tool.messageID === call.messageId) state.waitingAsks.delete(id)
  return signal(state, call.sessionId, `${call.partId}:ended`, { is: 'tool-ended', callId: call.callId, tool: call.tool, ...ending, output: bounded(ending.output) })
}

/** How a call ended. OpenCode “completes” a call of an unknown tool, and a command that was aborted: neither is done. */
function endingOf(call: CallState, part: WireToolPart): Ending {
  const ended = part.state
  if (ended.status === 'error') {
    const interrupted = ended.metadata?.['interrupted'] === true || ended.error === 'Tool execution aborted' || (part.tool === 'task' && ended.error === 'Task cancelled')
    return { outcome: interrupted ? 'interrupted' : 'failed', input: ended.input, output: ended.error, title: null, exitCode: null }
  }
  if (ended.status !== 'completed') throw new Error(`a ${ended.status} call has not ended`)
  call.tool = namedTool(call, part)
  const exit = ended.metadata?.['exit']
  const exitCode = typeof exit === 'number' ? exit : null
  const whole = { input: ended.input, output: ended.output, title: ended.title ?? null, exitCode }
  if (part.tool === 'invalid') return { ...whole, outcome: 'failed' }
  // `exit` is there but null when the command did not end by itself: aborted by us, or out of time.
  if (exit === null) return { ...whole, outcome: ended.output.includes('User aborted the command') ? 'interrupted' : 'failed' }
  return { ...whole, outcome: 'done' }
}

/** The tool that the model named: OpenCode renames a call that it could not take to `invalid`. */
function namedTool(call: CallState, part: WireToolPart): string {
  if (part.tool !== 'invalid') return clippedTool(part.tool)
  if (call.tool !== 'invalid') return call.tool
  return clippedTool((part.state.status === 'pending' ? null : textField(part.state.input, 'tool')) ?? 'invalid')
}

function takePermission(state: Translation, ask: WirePermission): readonly Translated[] {
  if (state.seenAsks.has(ask.id)) return []
  state.seenAsks.add(ask.id)
  const call = ask.tool === undefined ? undefined : callOf(state, ask.tool.messageID, ask.tool.callID)
  if (ask.tool === undefined || call?.stage === 'running') return [askSignal(state, ask, call ?? null)]
  // An ask whose call has ended is a ghost: there is nobody to answer.
  if (call?.stage !== 'ended') state.waitingAsks.set(ask.id, ask)
  return []
}

function releaseAsks(state: Translation, call: CallState): readonly Translated[] {
  const released = [...state.waitingAsks.values()].filter((ask) => ask.tool?.callID === call.vendorCallId && ask.tool.messageID === call.messageId)
  return released.map((ask) => { state.waitingAsks.delete(ask.id); return askSignal(state, ask, call) })
}

function askSignal(state: Translation, ask: WirePermission, call: CallState | null): Translated {
  const asked = textField(ask.metadata, 'command')
  const command = call === null ? null : textField(call.input, 'command')
  if (ask.permission === 'bash' && (command === null || command !== asked)) return { is: 'refuse', permissionId: ask.id, sessionId: ask.sessionID, reason: 'The command that was asked for is not the command that would run.' }
  return signal(state, ask.sessionID, `${ask.id}:asked`, {
    is: 'permission-asked', permissionId: ask.id, callId: call === null ? null : call.callId, permission: ask.permission, patterns: ask.patterns,
    command, workdir: call === null ? null : resolvedFolder(state, textField(call.input, 'workdir')), files: editedFiles(ask.metadata).map((path) => ({ path: path.startsWith('/') ? roomName(state.workspace, path) : path, real: null })), diff: textField(ask.metadata, 'diff'),
    ...(ask.permission === 'edit' && call !== null ? { edit: { tool: call.tool, input: call.input, bases: [], workspace: state.workspace } } : {}),
  })
}

/** Where a command runs: OpenCode resolves a relative folder against the workspace, and so must whoever approves it. */
function resolvedFolder({ workspace }: Translation, workdir: string | null): string | null {
  return workdir === null ? null : roomName(workspace, posix.resolve(workspace, workdir))
}

/** The files of an edit by their absolute names. apply_patch names several, some with where they are moved to, and in its `filepath` relative to a root that depends on git. */
function editedFiles(metadata: Readonly<Record<string, unknown>>): readonly string[] {
  const files = Array.isArray(metadata['files']) ? metadata['files'].map((file: unknown) => file as Record<string, unknown> | null) : []
  const names = files.flatMap((file) => [textField(file, 'filePath'), ...(file?.['movePath'] === undefined ? [] : [textField(file, 'movePath')])])
  if (names.length > 0 && names.every((name) => name !== null)) return names
  const file = textField(metadata, 'filepath')
  return file === null ? [] : [file]
}

function takeQuestion(state: Translation, ask: WireQuestion): readonly Translated[] {
  if (state.questionCounts.has(ask.id)) return []
  state.questionCounts.set(ask.id, ask.questions.length)
  const questions = ask.questions.map(({ question, header, options, multiple }) => ({ question, header: header ?? '', options: (options ?? []).map(({ label }) => label), multiple: multiple ?? false }))
  return [signal(state, ask.sessionID, `${ask.id}:asked`, { is: 'question-asked', questionId: ask.id, callId: (ask.tool === undefined ? undefined : callOf(state, ask.tool.messageID, ask.tool.callID))?.callId ?? null, questions })]
}

function callOf(state: Translation, messageId: string, callId: string): CallState | undefined {
  const partId = state.callParts.get(callKey(messageId, callId))
  return partId === undefined ? undefined : state.calls.get(partId)
}

function callKey(messageId: string, callId: string): string {
  return `${messageId}/${callId}`
}

function textField(of: Readonly<Record<string, unknown>> | null | undefined, name: string): string | null {
  const value = of?.[name]
  return typeof value === 'string' ? value : null
}

/** The end of a long output: the newest lines are what matters. */
function bounded(output: string): string {
  return output.length <= limits.toolOutputHeldBytesMax ? output : output.slice(-limits.toolOutputHeldBytesMax)
}
