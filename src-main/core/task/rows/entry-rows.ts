import type { Author, CallId, Millis, TurnId } from '../../../../src-preload/contract/ids.ts'
import { failure } from '../../../../src-preload/contract/failure.ts'
import { stoppedEarly } from '../../../../src-preload/contract/limits.ts'
import { rowKey, type EntryBody, type EntryRow, type HoldOutcome, type ModelCall, type Row, type ToolBody } from '../../../../src-preload/contract/rows.ts'
import type { GrantScope } from '../../../../src-preload/contract/grants.ts'
import { wellFormed } from '../../digest.ts'
import type { TaskEvent } from '../events.ts'
import { exitNames } from '../exit-names.ts'
import { activeTurn, waitingHolds, type TaskState } from '../model.ts'

/** Rows that are not in the journal stand after all that are; a row moves to its event's place when it is journaled. */
export const liveOrderFrom = 2 ** 52

const callLost = failure('unavailable', 'The app ended while this call was open. What it took is not known; its reservation counts as spent.', 'Nothing to do.')

/** What an owner can do about a limit of the sandbox. */
const limitTodo = 'Nothing of it goes on. The limits stand in Settings → Isolation; ask Bot B for a smaller step, or run the rest yourself after you accept.'

/** What an owner can do about a result whose files are others. */
const filesBack = 'Put the files back and re-check, reject the result, or request a revision.'

/** A row keeps its first journaled place. */
function placed(before: Row | undefined, where: At): { readonly order: number; readonly at: Millis } {
  if (before?.kind !== 'entry') return { order: where.order, at: where.at }
  return { order: before.order >= liveOrderFrom ? where.order : before.order, at: before.at }
}

/** Where an event stands: its time, its journal seq, and how to look at rows that are drawn already. */
export interface At { readonly at: Millis; readonly order: number; readonly get: (key: string) => Row | undefined }

/** The transcript rows that an event puts or changes. `state` is the one after it. */
export function entryRows(state: TaskState, event: TaskEvent, where: At): EntryRow[] {
  const put = (name: string, author: Author, body: EntryBody): EntryRow => {
    const key = rowKey.entry(state.taskId, name)
    const before = where.get(key)
    return { kind: 'entry', key, taskId: state.taskId, ...placed(before, where), author: before?.kind === 'entry' ? before.author : author, turnId: turnOf(state), body }
  }
  const change = (name: string, edit: (body: EntryBody) => EntryBody): EntryRow[] => {
    const before = where.get(rowKey.entry(state.taskId, name))
    return before?.kind === 'entry' ? [{ ...before, body: edit(before.body) }] : []
  }
  const here = `at:${String(where.order)}`
  switch (event.type) {
    case 'task-opened': return [put(here, 'owner', { is: 'message', text: `**${event.title}**\n\n${event.requirement}${event.criteria.length === 0 ? '' : `\n\n${event.criteria.map((line) => `- ${line}`).join('\n')}`}`, streaming: false, reasoning: false })]
    case 'workspace-prepared': return [put(here, 'host', { is: 'notice', level: 'info', text: `Workspace ready: ${String(event.files)} ${event.files === 1 ? 'file' : 'files'} copied${event.baseCommit === null ? '' : ` at ${event.baseCommit.slice(0, 12)}`}.${event.notes.length === 0 ? '' : ` ${event.notes.join(' ')}`}`, todo: null })]
    case 'brief-proposed': return [...change(`brief:${String(event.inputVersion - 1)}`, (body) => (body.is === 'brief' && body.state === 'proposed' ? { ...body, state: 'replaced' } : body)),
      put(`brief:${String(event.inputVersion)}`, event.by, { is: 'brief', brief: event.brief, inputVersion: event.inputVersion, inputDigest: event.inputDigest, state: 'proposed' })]
    case 'brief-approved': return change(`brief:${String(event.inputVersion)}`, (body) => (body.is === 'brief' ? { ...body, state: 'approved' } : body))
    case 'coder-started': return [put(here, 'host', { is: 'notice', level: 'info', text: `Bot B runs: OpenCode ${event.version}, ${event.isolation.summary}.`, todo: null })]
    case 'message-said': return [put(`said:${event.name}`, event.author, { is: 'message', text: event.text, streaming: false, reasoning: event.reasoning })]
    case 'hold-opened': return event.hold.kind === 'acceptance' && event.hold.reaskReason === null ? [] : [...waitingTool(state, event.hold.callId, where), put(`hold:${event.hold.approvalId}`, event.hold.bot, { is: 'hold', approvalId: event.hold.approvalId, holdKind: event.hold.kind, title: event.hold.title, outcome: 'waiting', decidedAt: null, cause: event.hold.reaskReason })]
    case 'permission-ruled': return event.grantId === undefined ? [] : grantUseRows(state, event, where, put)
    case 'grant-given': return [put(here, 'owner', { is: 'notice', level: 'info', text: `You allowed ${grantSubject(event.grant.scope)} until ${new Date(event.grant.expiresAt).toISOString().slice(0, 16).replace('T', ' ')} UTC, without a question each time.`, todo: 'Look at the standing grants in the inspector to revoke it.' })]
    case 'grant-revoked': return [put(here, 'owner', { is: 'notice', level: 'info', text: 'You revoked a standing grant. What already runs goes on; the next time you are asked.', todo: null })]
    case 'hold-settled': return settleRows(state, event, where, change)
    case 'question-asked': return [put(`question:${event.questionId}`, event.purpose === 'brief' ? 'host' : 'coder', { is: 'question', questionId: event.questionId, text: event.text, options: [...event.options], state: event.purpose === 'brief' ? 'asked-owner' : 'open', deadlineAt: event.deadlineAt })]
    case 'question-passed-to-owner': return [...change(`question:${event.questionId}`, (body) => (body.is === 'question' ? { ...body, state: 'asked-owner' } : body)), put(here, 'lead', { is: 'notice', level: 'info', text: `Bot A leaves this to you. ${event.why}`, todo: 'Answer the question in the room.' })]
    case 'question-answered': return [...change(`question:${event.questionId}`, (body) => (body.is === 'question' ? { ...body, state: 'answered' } : body)), put(`answer:${event.questionId}`, event.by, { is: 'answer', questionId: event.questionId, text: event.text })]
    case 'question-closed': return change(`question:${event.questionId}`, (body) => (body.is === 'question' ? { ...body, state: event.how } : body))
    case 'verification-started': return [put(`verify:${String(state.turns.length)}`, 'lead', { is: 'verification', state: 'running', verification: null })]
    case 'verification-ended': return change(`verify:${String(verifyTurn(state, where))}`, (body) => (body.is === 'verification' ? { ...body, state: event.verification.passed ? 'passed' : 'failed', verification: event.verification } : body))
    case 'evidence-recorded': return [put(here, 'coder', { is: 'evidence', evidence: event.evidence, summary: event.summary })]
    case 'review-said': return [put(here, 'lead', { is: 'review', text: event.text, recommendation: event.recommendation })]
    case 'lead-failed': return [put(here, 'lead', { is: 'notice', level: 'warning', text: `Bot A's ${event.purpose} failed: ${event.failure.message}`, todo: event.failure.todo })]
    case 'call-lost': return change(`call:${String(event.call)}`, (body) => (body.is === 'call' ? { is: 'call', call: { ...ended(body.call), state: 'failed', failure: callLost } } : body))
    case 'call-reserved': case 'call-settled': return callRows(state, event, where, put, change)
    case 'call-refused': return [put(here, event.bot, { is: 'notice', level: 'warning', text: event.message, todo: null })]
    case 'answer-undelivered': return [...(event.approvalId === null ? [] : change(`hold:${event.approvalId}`, (body) => (body.is === 'hold' ? { ...body, cause: `The answer did not reach OpenCode: ${event.failure.message}` } : body))), put(here, 'host', { is: 'notice', level: 'error', text: event.failure.message, todo: event.failure.todo })]
    case 'tool-started': case 'tool-ended': return [toolRow(state, event, where)]
    case 'command-ran': return endedCommandRows(state, event, (body) => put(here, 'host', body))
    default: return endRows(state, event, (body, author) => [put(here, author, body)], put, change)
  }
}

type Put = (name: string, author: Author, body: EntryBody) => EntryRow
type Change = (name: string, edit: (body: EntryBody) => EntryBody) => EntryRow[]

function endRows(state: TaskState, event: TaskEvent, say: (body: EntryBody, author: Author) => EntryRow[], put: Put, change: Change): EntryRow[] {
  switch (event.type) {
    case 'turn-ended': return event.outcome === 'failed' || event.outcome === 'interrupted' ? say({ is: 'notice', level: event.outcome === 'failed' ? 'error' : 'warning', text: event.failure?.message ?? `The turn was ${event.outcome}.`, todo: event.failure?.todo ?? null }, 'host') : []
    case 'result-became-ready': return say({ is: 'status', status: 'result-ready', text: event.verified ? 'The result is ready and verified. Review it, then accept or reject.' : 'The result is ready, but the check did not pass. It cannot be accepted as it is.' }, 'host')
    case 'apply-intended': return [put('applied', 'host', { is: 'applied', how: 'folder', state: 'applying', detail: '', patchPath: null })]
    case 'apply-refused': return change('applied', (body) => (body.is === 'applied' ? { ...body, state: 'refused', detail: `${event.failure.message} ${event.failure.todo}` } : body))
    case 'accepted': return [...change('applied', (body) => (body.is === 'applied' ? { is: 'applied', how: event.how, state: 'applied', detail: event.detail, patchPath: event.patchPath } : body)), ...say({ is: 'decision', verdict: 'accepted', treeDigest: event.treeDigest, text: event.detail }, 'owner')]
    case 'rejected': return say({ is: 'decision', verdict: 'rejected', treeDigest: null, text: event.reason ?? '' }, 'owner')
    case 'revision-requested': return say({ is: 'decision', verdict: 'revision-requested', treeDigest: null, text: event.requirement }, 'owner')
    // It is over once that is proven, not before.
    case 'cancel-requested': return say({ is: 'status', status: state.status, text: `Stop requested: ${event.cause}.` }, event.cause.startsWith('the owner') ? 'owner' : 'host')
    case 'cancel-observed': return say({ is: 'status', status: 'cancelled', text: `Stopped. Proof: ${event.proof.detail}` }, 'host')
    case 'task-failed': return say({ is: 'notice', level: 'error', text: event.failure.message, todo: event.failure.todo }, 'host')
    case 'recovery-needed': return event.resending === true ? say({ is: 'notice', level: 'info', text: event.what, todo: null }, 'owner') : say({ is: 'notice', level: 'warning', text: `Uncertain: ${event.what}`, todo: state.phase === 'acceptance-waits' ? filesBack : 'Choose one of the four exits above: re-check, mark done, mark not done or resend.' }, 'host')
    case 'recovery-resolved': return say({ is: 'notice', level: 'info', text: `Resolved by ${exitNames[event.exit]}: ${event.detail}`, todo: null }, 'owner')
    case 'budget-raised': return say({ is: 'notice', level: 'info', text: event.acceptsUnknown ? 'You let the task go on although what earlier calls cost is not known.' : `You raised the budget: ${String(event.budget.requestsMax)} requests, ${String(event.budget.tokensMax)} tokens${event.budget.moneyMicroUsdMax === null ? '' : `, ${(event.budget.moneyMicroUsdMax / 1e6).toFixed(2)} USD`}.`, todo: null }, 'owner')
    case 'noted': return say({ is: 'notice', level: event.level, text: event.text, todo: event.todo }, 'host')
    default: return []
  }
}

function turnOf(state: TaskState): TurnId | null {
  return activeTurn(state)?.turnId ?? state.turns.at(-1)?.turnId ?? null
}

/** A correction turn is intended together with the end of the verification that caused it. */
function verifyTurn(state: TaskState, where: At): number {
  for (let turn = state.turns.length; turn > 0; turn -= 1) {
    const row = where.get(rowKey.entry(state.taskId, `verify:${String(turn)}`))
    if (row?.kind === 'entry' && row.body.is === 'verification' && row.body.state === 'running') return turn
  }
  return state.turns.length
}

function settleRows(state: TaskState, event: Extract<TaskEvent, { type: 'hold-settled' }>, where: At, change: Change): EntryRow[] {
  const subject = state.holds.get(event.approvalId)?.hold.subject
  const rows = change(`hold:${event.approvalId}`, (body) => (body.is === 'hold' ? { ...body, outcome: event.outcome, decidedAt: where.at, cause: event.cause } : body))
  rows.push(...waitingTool(state, state.holds.get(event.approvalId)?.hold.callId ?? null, where, event.outcome))
  if (subject?.for === 'brief' && event.outcome === 'denied') rows.push(...change(`brief:${String(subject.inputVersion)}`, (body) => (body.is === 'brief' ? { ...body, state: 'denied' } : body)))
  return rows
}

/** A command that was refused, passed a limit or was stopped. What a stop of the task ends is said by the stop itself; being stopped is no limit. */
function endedCommandRows(state: TaskState, { refused, limitHit }: Extract<TaskEvent, { type: 'command-ran' }>, say: (body: EntryBody) => EntryRow): EntryRow[] {
  const stopped = limitHit === stoppedEarly
  if ((refused === null && limitHit === null) || (stopped && state.cancel !== null)) return []
  return [say({ is: 'notice', level: 'warning', text: refused === null ? `Bot B's command ended: it ${limitHit ?? ''}.` : `Command refused: ${refused}`, todo: limitHit === null || stopped ? null : limitTodo })]
}

/** At most `charsMax` UTF-16 units of a text, cut visibly and never through a character. */
function beginning(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${wellFormed(text.slice(0, charsMax - 1))}…`
}

/** What was allowed, for a sentence; long texts by their beginning, since the grant's own line shows them whole. */
function grantSubject(scope: GrantScope): string {
  const text = scope.tool === 'bash' ? scope.text : scope.pattern
  const shown = beginning(text, 120)
  return scope.tool === 'bash' ? `"${shown}" in ${scope.cwd}` : `edits of ${shown}`
}

/** A use of a standing grant stands on the row of the call that it let run; a command without a row of its own gets a line. */
function grantUseRows(state: TaskState, event: Extract<TaskEvent, { type: 'permission-ruled' }>, where: At, put: Put): EntryRow[] {
  const row = event.callId === null ? undefined : where.get(rowKey.tool(state.taskId, event.callId))
  if (event.grantId !== undefined && row?.kind === 'entry' && row.body.is === 'tool') return [{ ...row, body: { ...row.body, grantId: event.grantId } }]
  return [put(`at:${String(where.order)}`, 'host', { is: 'notice', level: 'info', text: `Allowed by your standing grant ${event.grantId ?? ''}: ${beginning(event.text, 200)}`, todo: null })]
}

/** A call that has ended waits for nothing. */
function ended({ waits: _, ...call }: ModelCall): ModelCall {
  return call
}

function callRows(state: TaskState, event: Extract<TaskEvent, { type: 'call-reserved' | 'call-settled' }>, where: At, put: Put, change: Change): EntryRow[] {
  if (event.type === 'call-reserved') {
    const target = state.targets[event.bot]
    return [put(`call:${String(event.call)}`, event.bot, { is: 'call', call: { callNumber: event.call, bot: event.bot, state: 'open', path: null, providerId: target.ref.providerId, providerLabel: target.providerLabel, demo: target.demo, modelAsked: event.model, modelAnswered: null, inputTokens: null, outputTokens: null, costMicroUsd: null, startedAt: where.at, latencyMs: null, status: null, failure: null } })]
  }
  return change(`call:${String(event.call)}`, (body) => (body.is === 'call' ? { is: 'call', call: { ...ended(body.call), ...(event.directLeft === true ? { directLeft: true } : {}), state: event.failure === null ? 'done' : 'failed', path: event.path, modelAnswered: event.modelAnswered, inputTokens: event.inputTokens, outputTokens: event.outputTokens, costMicroUsd: event.costMicroUsd, latencyMs: event.latencyMs, status: event.status, failure: event.failure } } : body))
}

/** A call that is complete runs, unless the owner's approval is waited for. */
function runningState(state: TaskState, callId: CallId): Pick<ToolBody, 'state' | 'waitsSince'> {
  const [waiting] = waitingHolds(state).filter((record) => record.hold.callId === callId)
  return waiting === undefined ? { state: 'running', waitsSince: null } : { state: 'awaiting-approval', waitsSince: waiting.openedAt }
}

/** The row of a call whose hold was opened or settled. One that was not allowed stays open until Bot B's runtime has ended it, and does not run meanwhile. */
function waitingTool(state: TaskState, callId: CallId | null, where: At, settled: HoldOutcome | null = null): EntryRow[] {
  const row = callId === null || !state.openTools.has(callId) ? undefined : where.get(rowKey.tool(state.taskId, callId))
  if (callId === null || row?.kind !== 'entry' || row.body.is !== 'tool') return []
  const next = runningState(state, callId)
  const refused = next.state === 'running' && settled !== null && settled !== 'approved'
  return [{ ...row, body: { ...row.body, ...next, waits: refused ? { for: 'refusal', since: where.at } : row.body.waits ?? null } }]
}

const nothingGrows = { tail: '', tailOf: null, before: null, fields: [], waitsSince: null, waits: null } as const

function toolRow(state: TaskState, event: Extract<TaskEvent, { type: 'tool-started' | 'tool-ended' }>, where: At): EntryRow {
  const key = rowKey.tool(state.taskId, event.callId)
  const before = where.get(key)
  const known = before?.kind === 'entry' && before.body.is === 'tool' ? before.body : null
  const blank: ToolBody = { is: 'tool', callId: event.callId, tool: event.tool, state: 'running', target: null, argumentBytes: 0, contentLines: null, tail: '', tailOf: null, input: null, output: null, outputTruncated: false, exitCode: null, title: null, startedAt: where.at, endedAt: null, reason: null, parentCallId: null }
  const body: ToolBody = event.type === 'tool-started'
    ? { ...(known ?? blank), tool: event.tool, target: event.target ?? known?.target ?? null, argumentBytes: event.inputBytes, input: event.input, ...nothingGrows, waits: known?.waits ?? null, ...runningState(state, event.callId), parentCallId: event.parentCallId }
    : { ...(known ?? blank), tool: event.tool, state: event.state, output: event.output, outputTruncated: event.outputTruncated, exitCode: event.exitCode, title: event.title, reason: event.reason, endedAt: where.at, ...nothingGrows }
  return { kind: 'entry', key, taskId: state.taskId, ...placed(before, where), author: 'coder', turnId: turnOf(state), body }
}
