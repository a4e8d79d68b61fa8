import type { StandingGrantView } from '../../src-preload/contract/grants.ts'
import type { ApprovalId, CallId, Digest, GrantId, QuestionId, TaskId, TurnId } from '../../src-preload/contract/ids.ts'
import type { Author } from '../../src-preload/contract/ids.ts'
import { defaultSandboxLimits } from '../../src-preload/contract/limits.ts'
import type { EntryBody, EntryRow, HoldRow, ModelCall, TaskRow, ToolBody } from '../../src-preload/contract/rows.ts'
import type { Brief, Evidence, IsolationReport, Verification } from '../../src-preload/contract/task.ts'

export const start = Date.now() - 64_000
export const digest = (seed: number): Digest => `sha256:${Array.from({ length: 64 }, (_, i) => ((seed * 31 + i * 7 + ((seed * i) % 13)) % 16).toString(16)).join('')}` as Digest

export const isolation: IsolationReport = { usable: true, level: 'bubblewrap', summary: 'bubblewrap 0.11.0: no network, no home folder, own processes, read-only system; at most 4 GiB of memory, 512 processes, 10 min of processor time, 2 GiB a file', detail: 'bubblewrap 0.11.0 at /usr/bin/bwrap. Each command and the coder itself run in namespaces of their own (user, process, network, ipc, host name), without capabilities, under a system-call filter; a trial run passed. Whatever passes a limit is ended, and its row says which.', checkedAt: start, failure: null, limits: defaultSandboxLimits }

export const brief: Brief = {
  goal: 'Make the shipping cost follow the order value as the requirement says, and cover each boundary with a test.',
  scope: 'Only `src/shipping.ts` and its tests. The public signature of `shippingCost(orderCents)` stays.',
  criteria: ['Orders between 20 and 50 euros pay 4.90.', 'Orders between 50 and 100 euros pay 1.90.', 'Orders over 100 euros ship free.', 'A customer who reaches a threshold gets the better price.', 'All amounts are integers in cents; no floating point.'],
  testCommand: 'bun test',
  excerpts: [
    { id: 'README.md', content: '# Shipping\n\nA small library that tells what shipping an order costs.\n' },
    { id: 'src/shipping.ts', content: 'export function shippingCost(orderCents: number): number {\n  if (orderCents < 2_000) return 690\n  return 490\n}\n' },
  ],
}

export const code = `import { euros, type Cents } from './money.ts'

/** One step of the price list: from this order value on, shipping costs so much. */
interface Step {
  readonly fromCents: Cents
  readonly costCents: Cents
}

const steps: readonly Step[] = [
  { fromCents: euros(100), costCents: 0 },
  { fromCents: euros(50), costCents: 190 },
  { fromCents: euros(20), costCents: 490 },
  { fromCents: 0, costCents: 690 },
]

/** What shipping costs for an order. A customer who reaches a threshold gets the better price. */
export function shippingCost(orderCents: Cents): Cents {
  if (!Number.isInteger(orderCents) || orderCents < 0) throw new RangeError('an order value is a whole number of cents')
  const step = steps.find((one) => orderCents >= one.fromCents)
  return step?.costCents ?? 690
}
`

export const testLog = `bun test v1.3.1

test/shipping.test.ts:
✓ under 20 euros pays 6.90 [0.42ms]
✓ between 20 and 50 euros pays 4.90 [0.05ms]
✓ exactly 50 euros pays 1.90 [0.04ms]
✓ between 50 and 100 euros pays 1.90 [0.03ms]
✓ 100 euros and more ship free [0.03ms]
✓ refuses a value that is no whole number [0.11ms]

 6 pass
 0 fail
 11 expect() calls
Ran 6 tests across 1 file. [38.00ms]
`

export const evidence: Evidence = {
  turnId: 'turn-2', baseDigest: digest(3), treeDigest: digest(4), diffDigest: digest(5),
  files: [
    { path: 'src/shipping.ts', status: 'modified', additions: 18, deletions: 4, binary: false },
    { path: 'src/money.ts', status: 'added', additions: 9, deletions: 0, binary: false },
    { path: 'test/shipping.test.ts', status: 'modified', additions: 22, deletions: 2, binary: false },
  ],
  testRun: { command: 'bun test', exitCode: 0, logDigest: digest(6), logTail: testLog, durationMs: 412 },
}

export const verification: Verification = {
  passed: true, treeDigest: digest(4), treeMatches: true, failure: null,
  testRun: { command: 'bun test', exitCode: 0, logDigest: digest(7), logTail: testLog, durationMs: 398, limits: defaultSandboxLimits },
  oracle: { command: 'bun test /oracle', exitCode: 0, logDigest: digest(8), logTail: testLog.replace('6 pass', '9 pass'), durationMs: 377, limits: defaultSandboxLimits },
}

export function modelCall(n: number, change: Partial<ModelCall> = {}): EntryBody {
  return {
    is: 'call',
    call: {
      callNumber: n, bot: n % 3 === 1 ? 'lead' : 'coder', state: 'done', path: 'direct', providerId: 'demo', providerLabel: 'Demo model (scripted, built in)', demo: true, modelAsked: 'demo-1', modelAnswered: 'demo-1',
      inputTokens: 1_280 + n * 311, outputTokens: 86 + n * 17, costMicroUsd: null, startedAt: start + n * 900, latencyMs: 180 + n * 23, status: 200, failure: null, ...change,
    },
  }
}

export function toolBody(callId: string, tool: string, change: Partial<ToolBody> = {}): ToolBody {
  return {
    is: 'tool', callId: callId as CallId, tool, state: 'done', target: 'src/shipping.ts', argumentBytes: 812, contentLines: 24, tail: '', tailOf: null, input: JSON.stringify({ filePath: 'src/shipping.ts', content: code }, null, 2), output: 'Wrote src/shipping.ts',
    outputTruncated: false, exitCode: null, title: null, startedAt: start + 20_000, endedAt: start + 21_240, reason: null, parentCallId: null, ...change,
  }
}

let order = 0
export function entry(taskId: string, author: Author, body: EntryBody, name = body.is === 'call' ? `call:${body.call.callNumber.toString()}` : `e${(order + 1).toString()}`): EntryRow {
  order += 1
  return { kind: 'entry', key: `entry:${taskId}:${name}`, taskId: taskId as TaskId, order, at: start + order * 1_700, author, turnId: 'turn-1' as TurnId, body }
}

export function task(taskId: string, title: string, change: Partial<TaskRow> = {}): TaskRow {
  return {
    kind: 'task', key: `task:${taskId}`, taskId: taskId as TaskId, title, status: 'working', generation: 1, waiting: null, cancel: null, recovery: null, disposition: null, activity: { label: 'Bot B is working', since: Date.now() - 12_000, waitingFor: null },
    createdAt: start, updatedAt: start + 40_000, deadlineAt: start + 600_000, source: { kind: 'sample', label: 'Sample task', path: null },
    requirement: 'Shipping costs by order value: orders between 20 and 50 euros pay 4.90, between 50 and 100 pay 1.90, over 100 ship free; smaller orders pay 6.90.', criteria: brief.criteria, revisionOf: null,
    models: { lead: { providerId: 'demo', modelId: 'demo-1' }, coder: { providerId: 'demo', modelId: 'demo-1' } }, grant: { edits: 'allow', testCommand: 'allow', otherCommands: 'ask' }, standingGrants: [], runtime: 'opencode-server',
    budget: { profile: 'pilot', turnsMax: 4, messagesMax: 8, requestsMax: 60, tokensMax: 200_000, moneyMicroUsdMax: null, deadlineMs: 600_000 },
    meters: [
      { name: 'turns', used: 1, reserved: 1, limit: 4, unknown: false }, { name: 'messages', used: 3, reserved: 0, limit: 8, unknown: false }, { name: 'requests', used: 11, reserved: 1, limit: 60, unknown: false },
      { name: 'tokens', used: 168_412, reserved: 8_000, limit: 200_000, unknown: false }, { name: 'money', used: 0, reserved: 0, limit: null, unknown: true },
    ],
    isolation, openCodeVersion: '1.18.30', sessionId: 'ses_7f3a9c', evidenceLevels: { offlineMock: '11 model calls answered by the embedded demo model', realProcess: 'OpenCode 1.18.30 ran as a supervised process', realModel: null, humanAcceptance: null }, result: null, failure: null, ...change,
  }
}

export function hold(id: string, taskId: string, change: Partial<HoldRow> = {}): HoldRow {
  order += 1
  return {
    kind: 'hold', key: `hold:${id}`, approvalId: id as ApprovalId, taskId: taskId as TaskId, holdKind: 'command', bot: 'coder', turnId: 'turn-2' as TurnId, callId: 'call_7' as CallId, digest: digest(order), title: 'Bot B wants to run a command', outcome: 'waiting', openedAt: Date.now() - 3_000, shownAt: null, order, alarm: false,
    exact: { label: 'Command, exactly as it will run', text: 'bun scripts/check-style.ts', authoredBy: 'coder' },
    facts: [
      { label: 'Asked by', value: 'a subagent of Bot B, begun by its call call_6', exact: true, authoredBy: 'host' }, { label: 'Working directory', value: '/workspace', exact: true, authoredBy: 'host' }, { label: 'Environment', value: 'empty but for PATH, HOME, LANG and TMPDIR of the sandbox', exact: false, authoredBy: 'host' },
      { label: 'Added to PATH', value: '/opt/toolchains/node-22/bin', exact: true, authoredBy: 'host' }, { label: 'Network', value: 'none', exact: false, authoredBy: 'host' }, { label: 'Bound', value: 'this text in this directory, once; not the contents of scripts that it runs', exact: false, authoredBy: 'host' },
    ],
    isolation: isolation.summary, reaskReason: null, standing: { explained: '1 command (bun), 2 literal words: no variables, patterns, substitutions or redirections to files', choices: [600_000, 3_600_000, null].map((forMs, at) => ({ scope: { tool: 'bash', text: 'bun scripts/check-style.ts', cwd: '/workspace' }, forMs, digest: digest(60 + at) })) }, ...change,
  }
}

export const questionId = 'q-1' as QuestionId

/** Standing grants in each of their states. */
export function standingGrants(): StandingGrantView[] {
  const grant = (seed: number, change: Partial<StandingGrantView>): StandingGrantView => ({
    grantId: `grt_${seed.toString()}` as GrantId, bot: 'coder', scope: { tool: 'bash', text: 'bun scripts/check-style.ts', cwd: '/workspace' }, explained: '1 command (bun), 2 literal words: no variables, patterns, substitutions or redirections to files', digest: digest(seed), approvalId: `a${seed.toString()}` as ApprovalId,
    givenAt: start, expiresAt: Date.now() + 500_000, uses: 3, lastUsedAt: Date.now() - 20_000, revokedAt: null, stands: true, ...change,
  })
  return [
    grant(80, {}), grant(81, { scope: { tool: 'edit', pattern: '/workspace/src/deeply/nested/packages/**' }, explained: 'Edits of these files in Bot B\'s copy of your folder, by their real paths.', uses: 0, lastUsedAt: null }),
    grant(82, { revokedAt: Date.now(), stands: false, uses: 1 }), grant(83, { expiresAt: Date.now() - 1_000, scope: { tool: 'bash', text: `npm run lint && npx tsc --noEmit ${'--project packages/one/tsconfig.json '.repeat(9)}`, cwd: '/workspace/packages' } }),
  ]
}
