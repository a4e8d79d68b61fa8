import type { Meta, StoryObj } from '@storybook/react-vite'
import type { ReactNode } from 'react'
import type { Author } from '../../../src-preload/contract/ids.ts'
import { holdOutcomeSchema, toolStateSchema, type EntryBody, type EntryRow } from '../../../src-preload/contract/rows.ts'
import { callWaitsSchema, taskStatusSchema } from '../../../src-preload/contract/task.ts'
import { EntryRowView } from '../../features/room/rows/entry-row.tsx'
import { useEntryKeys } from '../../store/hooks.ts'
import { brief, digest, entry, evidence, modelCall, questionId, start, testLog, toolBody, verification } from '../fixtures.ts'
import { previews, scenes } from '../scenes.ts'

/** Each kind of the transcript's rows in each of its states. What the contract lists as states is taken from there, so that none is forgotten. */
const meta: Meta = { title: 'Room/Rows', render: () => <Rows />, play: async ({ canvas }) => { await canvas.findAllByRole('article') } }
export default meta

const id = 'task-1'
const row = (author: Author, body: EntryBody): EntryRow => entry(id, author, body)
const on = (rows: () => readonly EntryRow[]): StoryObj => ({ parameters: { scene: { rows } } })

function Rows(): ReactNode {
  const keys = useEntryKeys(id)
  return <div>{keys.map((key, at) => <div key={key} className="transcript-slot"><EntryRowView rowKey={key} previousKey={keys[at - 1] ?? null} /></div>)}</div>
}

export const Messages = on(() => [
  row('owner', { is: 'message', text: 'Orders over 100 euros ship free.', streaming: false, reasoning: false }),
  row('lead', { is: 'message', text: 'I wrote the brief from it.', streaming: false, reasoning: false }),
  row('coder', { is: 'message', text: 'Let me look at the price list first.', streaming: false, reasoning: true }),
  row('coder', { is: 'message', text: 'I am at it, and', streaming: true, reasoning: false }),
])

export const Briefs = on(() => (['proposed', 'approved', 'denied', 'replaced'] as const).map((state) => row('lead', { is: 'brief', brief, inputVersion: 1, inputDigest: digest(1), state })))

export const Questions = on(() => [
  ...(['open', 'asked-owner', 'answered', 'expired', 'withdrawn'] as const).map((state) => row('coder', { is: 'question', questionId: `${questionId}-${state}` as typeof questionId, text: 'Exactly **50.00 euros**: 4.90 or 1.90?', options: ['4.90', '1.90'], state, deadlineAt: Date.now() + 251_000 })),
  row('lead', { is: 'answer', questionId, text: '1.90: who *reaches* a threshold gets the better price.' }),
])

export const Calls = on(() => [
  ...toolStateSchema.options.filter((state) => state !== 'preview').map((state) => row('coder', toolBody(`call_${state}`, 'edit', { state, reason: state === 'done' || state === 'running' ? null : 'The text to replace was not found', endedAt: state === 'running' ? null : start + 21_000 }))),
  row('coder', toolBody('call_bash', 'bash', { target: 'bun test', exitCode: 1, contentLines: null, input: '{"command":"bun test"}', output: testLog, outputTruncated: true })),
  row('coder', toolBody('call_granted', 'bash', { target: 'bun scripts/check-style.ts', exitCode: 0, contentLines: null, grantId: 'grt_80' as never })),
])

export const CallsThatWaitForAnother = on(() => (['command', 'edit'] as const).map((waitsFor) => row('coder', toolBody(`call_waits_${waitsFor}`, waitsFor === 'command' ? 'edit' : 'bash', { state: 'running', waits: { for: waitsFor, since: Date.now() - 83_000 }, ...(waitsFor === 'edit' ? { target: 'bun test', input: '{"command":"bun test"}' } : {}), exitCode: null, contentLines: null, output: null, endedAt: null }))))

export const CallOpen: StoryObj = {
  ...on(() => [row('coder', toolBody('call_bash', 'bash', { target: 'bun test', exitCode: 1, contentLines: null, input: '{"command":"bun test"}', output: testLog }))]),
  play: async ({ canvas, userEvent }) => { await userEvent.click(await canvas.findByRole('button', { expanded: false })) },
}

export const Previews = on(() => previews())

export const EvidenceAndReview = on(() => [
  row('host', { is: 'evidence', evidence, summary: 'Three files changed; the test command passed after the last edit.' }),
  row('lead', { is: 'verification', state: 'running', verification: null }),
  row('lead', { is: 'verification', state: 'passed', verification }),
  row('lead', { is: 'verification', state: 'failed', verification: { ...verification, passed: false, treeMatches: false, oracle: null, testRun: null, failure: { code: 'verification-failed', message: 'The tree that the diff makes is not the tree of the evidence.', todo: 'Request a revision.' } } }),
  ...(['accept', 'reject', 'unsure'] as const).map((recommendation) => row('lead', { is: 'review', text: 'The re-run agrees with the evidence.', recommendation })),
])

export const Decisions = on(() => [
  ...(['accepted', 'rejected', 'revision-requested'] as const).map((verdict) => row('owner', { is: 'decision', verdict, treeDigest: digest(4), text: verdict === 'accepted' ? '' : 'The price list belongs into the configuration.' })),
  ...(['applying', 'applied', 'refused', 'uncertain'] as const).map((state) => row('host', { is: 'applied', how: 'folder', state, detail: '3 files', patchPath: null })),
  row('host', { is: 'applied', how: 'patch-file', state: 'applied', detail: '', patchPath: '/home/me/countersign/patches/shipping-cost.patch' }),
])

export const OpenCalls = on(() => [
  row('coder', modelCall(1, { state: 'open', path: null, latencyMs: null, startedAt: Date.now() - 12_000 })),
  ...callWaitsSchema.shape.for.options.map((waits, at) => row('coder', modelCall(at + 2, { state: 'open', path: null, latencyMs: null, startedAt: Date.now() - 62_000, waits: { for: waits, since: Date.now() - 20_000 } }))),
])

export const QuietLines = on(() => [
  ...(['open', 'done', 'failed', 'refused'] as const).map((state, at) => row('host', modelCall(at + 1, { state, path: (['direct', 'warm', 'exec', null] as const)[at] ?? null, inputTokens: at === 1 ? null : 1_280, failure: state === 'failed' ? { code: 'provider-unreachable', message: 'The provider did not answer.', todo: 'Check its base URL.' } : null }))),
  ...taskStatusSchema.options.map((status) => row('host', { is: 'status', status, text: `The task is ${status}` })),
  ...holdOutcomeSchema.options.map((outcome) => row('host', { is: 'hold', approvalId: outcome as never, holdKind: 'command', title: 'Run bun scripts/check-style.ts', outcome, decidedAt: outcome === 'waiting' ? null : start, cause: outcome === 'withdrawn' ? 'the agent ended' : null })),
])

export const NoticeRows = on(() => (['info', 'warning', 'error'] as const).map((level) => row('host', { is: 'notice', level, text: 'Usage of call 8 is unknown.', todo: level === 'info' ? null : 'Look at the budget.' })))

export const Long = on(() => (scenes['long']?.() ?? []).filter((one): one is EntryRow => one.kind === 'entry'))
