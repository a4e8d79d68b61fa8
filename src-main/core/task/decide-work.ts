import { failure } from '../../../src-preload/contract/failure.ts'
import type { ApprovalId, QuestionId } from '../../../src-preload/contract/ids.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import { makeHold, type Hold } from '../approval/hold.ts'
import { utf8Bytes, wellFormed } from '../digest.ts'
import { messageCharge } from '../budget/charge.ts'
import { affordable } from './budget.ts'
import type { DecideContext, HostCommand, OwnerCommand } from './commands.ts'
import { decided, failTask, ignored, interruptTools, withdrawHolds, wrongState, type Decided } from './decision.ts'
import type { TaskEvent } from './events.ts'
import { activeTurn, openQuestion, type Question, type TaskState } from './model.ts'
import { post } from './post.ts'
import { startTurn } from './turns.ts'
import { requestText } from './turn-text.ts'

type Host<K extends HostCommand['is']> = Extract<HostCommand, { is: K }>

/** The process runs: its pid is on record before anything is asked of it. */
export function coderStarted(state: TaskState, command: Host<'coder-started'>): Decided {
  const { is: _, ...facts } = command
  const started: TaskEvent = { type: 'coder-started', ...facts }
  const turn = activeTurn(state)
  if (state.sessionId === null) return decided([started], [{ kind: 'coder.session' }])
  if (state.recovery !== null && turn !== null) return decided([started], [{ kind: 'coder.reconcile', turnId: turn.turnId }])
  if (turn?.state === 'intended') return decided([started], [{ kind: 'coder.submit', turnId: turn.turnId }])
  return decided([started])
}

/** The task's one session is bound: the approved brief goes out as the first turn. */
export function sessionBound(state: TaskState, command: Host<'session-bound'>, ctx: DecideContext): Decided {
  const bound: TaskEvent = { type: 'session-bound', sessionId: command.sessionId }
  if (state.brief === null || state.turns.length > 0) return decided([bound])
  return startTurn({ ...state, sessionId: command.sessionId }, ctx, { kind: 'request', text: requestText(state.title, state.requirement, state.brief.brief) }, [bound])
}

/** The turn's loop ended, as history says. */
export function turnEnded(state: TaskState, command: Host<'turn-ended'>): Decided {
  const turn = activeTurn(state)
  // T3. A result is taken only for the active turn; a late end of an older message changes nothing.
  if (turn?.messageId !== command.messageId || state.phase !== 'coding' || state.recovery !== null) return ignored
  const leftovers = [...interruptTools(state, 'The turn ended.'), ...withdrawHolds(state, 'The turn ended.', (kind) => kind === 'permission' || kind === 'command')]
  if (command.outcome === 'completed') return decided([...leftovers, { type: 'turn-ended', turnId: turn.turnId, outcome: 'completed', text: command.text, failure: null }], [{ kind: 'evidence.collect', turnId: turn.turnId }])
  const why = command.failure ?? failure('opencode-failed', 'Bot B\'s turn ended without a result.', 'Look at the last rows for the reason, then start the task again.')
  return failTask(state, why, [...leftovers, { type: 'turn-ended', turnId: turn.turnId, outcome: command.outcome, text: command.text, failure: why }])
}

/** A tool call is complete and runs. */
export function toolStarted(state: TaskState, command: Host<'tool-started'>): Decided {
  if (state.openTools.has(command.callId) || state.endedTools.has(command.callId)) return ignored
  const { is: _, ...facts } = command
  return decided([{ type: 'tool-started', ...facts, parentCallId: null }])
}

/** P1. Exactly one final record a call: doubles and late ones are dropped. */
export function toolEnded(state: TaskState, command: Host<'tool-ended'>): Decided {
  if (state.endedTools.has(command.callId)) return ignored
  const events: TaskEvent[] = []
  if (!state.openTools.has(command.callId)) events.push({ type: 'tool-started', callId: command.callId, tool: command.tool, target: command.target, input: command.input, inputDigest: command.inputDigest, inputBytes: command.inputBytes, parentCallId: null })
  events.push({ type: 'tool-ended', callId: command.callId, tool: command.tool, state: command.state, output: command.output, outputTruncated: command.outputTruncated, exitCode: command.exitCode, title: command.title, reason: command.reason })
  return decided(events)
}

/** Whether the task's grant covers a command by itself: the exact test command, in the workspace's root. */
function coveredByGrant(state: TaskState, command: { readonly text: string; readonly cwd: string }): 'allow' | 'ask' | 'deny' {
  if (command.text === state.brief?.brief.testCommand && command.cwd === '/workspace') return state.grant.testCommand
  return state.grant.otherCommands
}

/** A3. Hard denials come before any question to the owner. Null: may be asked or granted. */
function hardDenial(command: { readonly text: string; readonly cwd: string }): string | null {
  if (command.cwd !== '/workspace' && !command.cwd.startsWith('/workspace/')) return 'The working directory is outside the workspace.'
  if (utf8Bytes(command.text) > limits.commandTextBytesMax) return 'The command is too long to be shown whole.'
  if (command.text.includes('\0')) return 'The command contains a NUL character.'
  return null
}

/** The runtime asks before a tool acts. */
export function permissionAsked(state: TaskState, command: Host<'permission-asked'>, ctx: DecideContext): Decided {
  const turn = activeTurn(state)
  if ([...state.holds.values()].some((record) => record.hold.subject.for === 'permission' && record.hold.subject.permissionId === command.permissionId)) return ignored
  const shell = command.command
  const rule = (allow: boolean, by: string, message: string): Decided => decided(
    [{ type: 'permission-ruled', permissionId: command.permissionId, callId: command.callId, ruling: allow ? 'granted' : 'denied', by, text: shell?.text ?? command.filePath ?? command.permission }],
    [{ kind: 'coder.answerPermission', permissionId: command.permissionId, allow, message, command: allow ? shell : null }])
  if (turn === null || state.phase !== 'coding') return rule(false, 'no active turn', 'No turn is active.')
  if (command.permission === 'bash' && shell !== null) {
    const denial = hardDenial(shell)
    if (denial !== null) return rule(false, 'policy', denial)
    const covered = coveredByGrant(state, shell)
    if (covered === 'allow') return rule(true, 'the task\'s grant', '')
    if (covered === 'deny') return rule(false, 'the task\'s grant', 'The task\'s grant denies this command.')
    return decided([{ type: 'hold-opened', hold: commandHold(state, ctx, { for: 'permission', permissionId: command.permissionId, command: shell }, shell, command.callId, command.isolation) }])
  }
  if (command.permission === 'edit') {
    if (state.grant.edits === 'allow') return rule(true, 'the task\'s grant', '')
    if (state.grant.edits === 'deny' || command.diff === null) return rule(false, 'the task\'s grant', 'The task\'s grant denies edits.')
    return decided([{ type: 'hold-opened', hold: editHold(state, ctx, command, command.diff) }])
  }
  const ruled = rule(false, 'policy', '')
  return ruled.ok ? decided([...ruled.value.events, { type: 'noted', level: 'warning', text: `Bot B asked for "${command.permission}", which the task does not grant. It was denied.`, todo: null }], ruled.value.effects) : ruled
}

/** A command reached the broker without a grant of its own. */
export function commandAsked(state: TaskState, command: Host<'command-asked'>, ctx: DecideContext): Decided {
  const shell = { text: command.text, cwd: command.cwd }
  const answer = (allow: boolean, by: string, message: string): Decided => decided([{ type: 'permission-ruled', permissionId: command.askId, callId: null, ruling: allow ? 'granted' : 'denied', by, text: command.text }], [{ kind: 'coder.answerCommand', askId: command.askId, allow, message }])
  if (activeTurn(state) === null || state.phase !== 'coding') return answer(false, 'no active turn', 'no turn is active')
  const denial = hardDenial(shell)
  if (denial !== null) return answer(false, 'policy', denial)
  const covered = coveredByGrant(state, shell)
  if (covered !== 'ask') return answer(covered === 'allow', 'the task\'s grant', 'the task\'s grant denies this command')
  return decided([{ type: 'hold-opened', hold: commandHold(state, ctx, { for: 'command', askId: command.askId, command: shell }, shell, null, command.isolation) }])
}

function commandHold(state: TaskState, ctx: DecideContext, subject: Hold['subject'], shell: { readonly text: string; readonly cwd: string }, callId: Hold['callId'], isolation: string): Hold {
  const turn = activeTurn(state)
  const again = [...state.holds.values()].some((record) => record.hold.kind === 'command' && record.hold.exact.text === shell.text && record.outcome === 'approved')
  return makeHold(state.taskId, ctx.mint('apr') as ApprovalId, {
    kind: 'command', bot: 'coder', generation: state.generation, turnId: turn?.turnId ?? null, callId, subject,
    title: 'Bot B wants to run a command', exact: { label: 'Command, exactly as it will run', text: shell.text, authoredBy: 'coder' },
    facts: [
      { label: 'Working directory', value: shell.cwd, exact: true, authoredBy: 'host' },
      { label: 'Environment', value: 'empty but for PATH, HOME, LANG and TMPDIR of the sandbox', exact: false, authoredBy: 'host' },
      { label: 'Network', value: 'none', exact: false, authoredBy: 'host' },
      { label: 'Bound', value: 'this text in this directory, once; not the contents of scripts that it runs', exact: false, authoredBy: 'host' },
    ],
    isolation, reaskReason: again ? 'You approved the same command before. Each approval is for one run.' : null,
  })
}

function editHold(state: TaskState, ctx: DecideContext, command: Host<'permission-asked'>, diff: string): Hold {
  return makeHold(state.taskId, ctx.mint('apr') as ApprovalId, {
    kind: 'edit', bot: 'coder', generation: state.generation, turnId: activeTurn(state)?.turnId ?? null, callId: command.callId, subject: { for: 'permission', permissionId: command.permissionId, command: null },
    title: 'Bot B wants to edit a file', exact: { label: 'Change', text: diff, authoredBy: 'coder' },
    facts: [{ label: 'File', value: command.filePath ?? 'unknown', exact: true, authoredBy: 'host' }], isolation: command.isolation, reaskReason: null,
  })
}

/** A permission of ours was answered by somebody else: the run is not under the owner's control any more. */
export function foreignAnswer(state: TaskState, command: Host<'foreign-permission-answer'>): Decided {
  if (state.phase !== 'coding') return ignored
  return failTask(state, failure('opencode-failed', `A permission was answered (${command.reply}) by something other than you. The run was stopped.`, 'Nothing of it was applied. Look at the commands in the room; start the task again if you trust its source.'), interruptTools(state, 'The run was stopped.'))
}

const questionCharsMax = 4_000
const optionsMax = 20
const optionCharsMax = 500

/** A model's text cut to what an envelope takes, never through a character. */
function clip(text: string, charsMax: number): string {
  const whole = text.trim() === '' ? '(no text)' : text
  return wellFormed(whole.slice(0, charsMax))
}

/** The coder asks; the turn is suspended until the answer. */
export function questionAsked(state: TaskState, command: Host<'question-asked'>, ctx: DecideContext): Decided {
  const turn = activeTurn(state)
  if (turn === null || state.phase !== 'coding') return ignored
  if ([...state.questions.values()].some((question) => question.upstreamId === command.upstreamId)) return ignored
  const roomForBoth = affordable(state, 'question-and-answer', { ...messageCharge, messages: 2 * messageCharge.messages })
  if (!roomForBoth.ok) return failTask(state, roomForBoth.error, interruptTools(state, 'The budget is used.'))
  const questionId = ctx.mint('q') as QuestionId
  const text = clip(command.text, questionCharsMax)
  const options = command.options.slice(0, optionsMax).map((option) => clip(option, optionCharsMax))
  return decided([
    { type: 'question-asked', questionId, upstreamId: command.upstreamId, purpose: 'work', text, options, deadlineAt: Math.min(ctx.now + limits.questionDeadlineMs, state.deadlineAt) },
    post(state, ctx, 'coder', 'question', turn.turnId, { question: text, options }),
    { type: 'lead-asked', purpose: 'answer' },
  ], [{ kind: 'lead.answer', questionId }])
}

/** Bot A answered, or says that the owner must. */
export function leadAnswered(state: TaskState, command: Host<'lead-answered'>, ctx: DecideContext): Decided {
  const question = state.questions.get(command.questionId)
  if (question?.state !== 'open') return ignored
  if (command.answer === null) return decided([{ type: 'question-passed-to-owner', questionId: question.questionId, why: command.why }])
  return answer(state, ctx, question, 'lead', command.answer)
}

/** The owner answers, at any time, in the lead's place. */
export function ownerAnswers(state: TaskState, command: Extract<OwnerCommand, { is: 'answer-question' }>, ctx: DecideContext): Decided {
  const question = openQuestion(state)
  if (question?.questionId !== command.questionId || question.purpose === 'brief') return wrongState(state, 'Answering this question')
  return answer(state, ctx, question, 'owner', command.text)
}

/** The answer is a turn of its own in the budget; a live question's loop goes on with it. */
function answer(state: TaskState, ctx: DecideContext, question: Question, by: 'lead' | 'owner', text: string): Decided {
  const turn = activeTurn(state)
  if (turn === null) return wrongState(state, 'Answering')
  const events: TaskEvent[] = [
    { type: 'question-answered', questionId: question.questionId, by, text }, post(state, ctx, 'lead', 'answer', turn.turnId, { answer: text }),
    { type: 'turn-ended', turnId: turn.turnId, outcome: 'suspended', text: '', failure: null },
  ]
  const started = startTurn(state, ctx, { kind: 'answer', text, continues: { messageId: turn.messageId, effect: (turnId) => ({ kind: 'coder.answerQuestion', questionId: question.questionId, turnId }) } }, events)
  return started.ok ? decided(started.value.events, started.value.effects, started.value.retire === 'all' ? 'all' : ['lead.answer']) : started
}

/** Nobody answered in time: the turn cannot go on. */
export function questionExpired(state: TaskState, command: Host<'question-expired'>): Decided {
  const question = state.questions.get(command.questionId)
  if (question === undefined || (question.state !== 'open' && question.state !== 'asked-owner')) return ignored
  return failTask(state, failure('deadline-passed', 'A question of Bot B was not answered in time.', 'Start the task again and answer within its deadline, or put the answer into the requirement.'),
    [{ type: 'question-closed', questionId: question.questionId, how: 'expired' }, ...interruptTools(state, 'The question expired.')])
}
