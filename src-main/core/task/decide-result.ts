import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import type { ApprovalId } from '../../../src-preload/contract/ids.ts'
import type { Evidence } from '../../../src-preload/contract/task.ts'
import { makeHold, type Hold } from '../approval/hold.ts'
import { canonicalJson } from '../digest.ts'
import type { DecideContext, HostCommand, OwnerCommand } from './commands.ts'
import { endsUncertain } from './decide-compared.ts'
import { closing, decided, ignored, withdrawHolds, wrongState, type Decided } from './decision.ts'
import type { Effect } from './effects.ts'
import type { TaskEvent } from './events.ts'
import { isFinished, type TaskState } from './model.ts'
import { post } from './post.ts'
import { clip } from './words.ts'

type Host<K extends HostCommand['is']> = Extract<HostCommand, { is: K }>

const summaryCharsMax = 4_000
const summaryBytesMax = 12_000

/** The host's facts of the result are in: they go into the room, and the lead verifies them. */
export function evidenceCollected(state: TaskState, command: Host<'evidence-collected'>, ctx: DecideContext): Decided {
  if (state.phase !== 'collecting') return ignored
  const { evidence } = command
  return decided([
    { type: 'evidence-recorded', evidence, summary: state.summary },
    post(state, ctx, 'coder', 'result', state.turns.at(-1)?.turnId ?? null, {
      summary: clip(state.summary, summaryCharsMax, summaryBytesMax), testCommand: evidence.testRun?.command ?? null, exitCode: evidence.testRun?.exitCode ?? null, logDigest: evidence.testRun?.logDigest ?? null,
      treeDigest: evidence.treeDigest, diffDigest: evidence.diffDigest, filesChanged: evidence.files.length,
    }),
    { type: 'verification-started' },
  ], [{ kind: 'verify.run' }])
}

/** The lead's words on the evidence. With or without them the owner decides. */
export function reviewed(state: TaskState, review: { readonly text: string; readonly recommendation: 'accept' | 'reject' | 'unsure' } | { readonly failure: Failure }, ctx: DecideContext): Decided {
  if (state.phase !== 'reviewing' || state.evidence === null) return ignored
  const said: TaskEvent = 'failure' in review ? { type: 'lead-failed', purpose: 'review', failure: review.failure } : { type: 'review-said', text: review.text, recommendation: review.recommendation }
  const { treeDigest } = state.evidence
  return decided([said, { type: 'result-became-ready', treeDigest, verified: state.verified }, { type: 'hold-opened', hold: acceptanceHold(state, state.evidence, ctx, null) }], closeCoder(state))
}

function closeCoder(state: TaskState): Effect[] {
  return state.coder.is === 'running' || state.coder.is === 'starting' ? [{ kind: 'coder.stop' }] : []
}

function acceptanceHold(state: TaskState, evidence: Evidence, ctx: DecideContext, reaskReason: string | null): Hold {
  const { treeDigest, diffDigest, baseDigest, files } = evidence
  const exact = canonicalJson({ treeDigest, diffDigest, baseDigest, verified: state.verified, files: files.length })
  return makeHold(state.taskId, ctx.mint('apr') as ApprovalId, {
    kind: 'acceptance', bot: 'coder', generation: state.generation, turnId: state.turns.at(-1)?.turnId ?? null, callId: null, subject: { for: 'acceptance', treeDigest },
    title: 'The result is ready', exact: { label: 'Result', text: exact, authoredBy: 'host' },
    facts: [
      { label: 'Files changed', value: String(files.length), exact: false, authoredBy: 'host' },
      { label: 'Verification in a clean copy', value: state.verified ? 'passed' : 'did not pass', exact: false, authoredBy: 'host' },
      { label: 'On acceptance', value: state.source.kind === 'folder' ? `the patch is applied to ${state.source.path}` : 'a patch file is left', exact: state.source.kind === 'folder', authoredBy: 'host' },
    ],
    isolation: 'Applying is done by the app itself, never by a bot.', reaskReason,
  })
}

/** V1. Only a verified result can be accepted, and only while nothing about the task is uncertain. The intent to apply is recorded with the click. */
export function acceptanceApproved(state: TaskState, settled: TaskEvent): Decided {
  if (state.phase !== 'acceptance-waits' || state.evidence === null) return wrongState(state, 'Accepting')
  if (state.recovery !== null) return wrongState(state, 'Accepting an uncertain task')
  if (!state.verified) return { ok: false, error: failure('verification-failed', 'Bot A\'s check did not pass, so this result cannot be accepted.', 'Reject it, or request a revision.') }
  return decided([settled, { type: 'apply-intended', treeDigest: state.evidence.treeDigest }], [{ kind: 'workspace.apply', treeDigest: state.evidence.treeDigest }])
}

/** The owner rejects: summary and history are kept. */
export function acceptanceDenied(state: TaskState, settled: TaskEvent, reason: string | null): Decided {
  if (state.phase !== 'acceptance-waits') return wrongState(state, 'Rejecting')
  return decided([settled, ...endsUncertain(state), { type: 'rejected', reason }], closing(state), 'all')
}

/** An apply that was uncertain and whose outcome is known now. */
function looked(state: TaskState): TaskEvent[] {
  return state.recovery === null ? [] : [{ type: 'recovery-resolved', exit: 're-check', detail: 'The folder was looked at.' }]
}

/** The patch is in its place: only now is the task accepted. */
export function applied(state: TaskState, command: Host<'applied'>): Decided {
  if (state.phase !== 'applying' || state.evidence === null) return ignored
  return decided([...looked(state), { type: 'accepted', treeDigest: state.evidence.treeDigest, how: command.how, detail: command.detail, patchPath: command.patchPath }], closing(state))
}

/** Nothing was applied; the owner is asked again, with the reason. */
export function applyRefused(state: TaskState, why: Failure, ctx: DecideContext): Decided {
  if (state.phase !== 'applying' || state.evidence === null) return ignored
  return decided([...looked(state), { type: 'apply-refused', failure: why }, { type: 'hold-opened', hold: acceptanceHold(state, state.evidence, ctx, `${why.message} ${why.todo}`) }])
}

/** The owner wants it otherwise: this task ends, a new linked one carries on. */
export function requestRevision(state: TaskState, command: Extract<OwnerCommand, { is: 'request-revision' }>): Decided {
  const requested: TaskEvent = { type: 'revision-requested', revision: command.revision, requirement: command.requirement }
  if (isFinished(state.status)) return decided([{ type: 'noted', level: 'info', text: 'A revision was requested as a new task.', todo: null }])
  if (state.phase !== 'acceptance-waits') return wrongState(state, 'Requesting a revision')
  return decided([...withdrawHolds(state, 'A revision was requested.'), ...endsUncertain(state), requested], closing(state), 'all')
}
