import { failure } from '../../src-preload/contract/failure.ts'
import { err, ok } from '../../src-preload/contract/result.ts'
import type { CallId, TaskId } from '../../src-preload/contract/ids.ts'
import { digestOfText } from '../../src-main/core/digest.ts'
import type { Failpoint } from '../../src-main/engine/failpoints.ts'
import { DeadLife, type Blow } from '../../src-main/adapters/memory/mortal.ts'
import { sayTurnEnded, type ScriptedCoder, type ScriptedRun } from '../../src-main/adapters/memory/scripted-coder.ts'
import { leadSays, steadyLead, type ScriptedRoom } from '../../src-main/adapters/memory/scripted-room.ts'
import type { Random } from '../harness/random.ts'
import type { Disk } from './disk.ts'
import type { Troubles } from './tally.ts'
import type { Wire } from './wire.ts'

const broken = failure('unavailable', 'It broke.', 'Try again.')
const ambiguous = failure('submit-ambiguous', 'No answer came.', 'Check again.')
const commands = ['bun test', 'ls', 'bun scripts/check-style.ts', 'cat a | sh'] as const

export interface Fate { readonly random: Random; readonly calm: () => boolean; readonly troubles: Troubles; readonly disk: Disk; readonly dieAt: { readonly name: Failpoint; readonly nth: number } | null }

const writes: ReadonlySet<Failpoint> = new Set(['commit:before', 'start:before', 'end:before'])

/** The disk and the app's life, as the seed has them: now and then a crash, now and then a commit that is torn, or a while of refused writes. */
export function fate({ random, calm, troubles, disk, dieAt }: Fate): (point: Failpoint) => Blow {
  let refusing = 0
  let met = 0
  const end = (point: Failpoint): Blow => {
    troubles.crashes.set(point, (troubles.crashes.get(point) ?? 0) + 1)
    if (point === 'commit:after' && random.chance(0.5) && disk.tear()) troubles.tornCommits += 1
    return 'end'
  }
  return (point) => {
    if (point === 'commit:before') disk.begin()
    if (point === dieAt?.name) {
      met += 1
      if (met === dieAt.nth) return end(point)
    }
    if (calm()) return null
    if (refusing > 0) {
      refusing -= 1
      if (!writes.has(point)) return null
      troubles.refusals += 1
      return 'refuse'
    }
    if (random.chance(point === 'commit:after' ? 0.01 : 0.005)) return end(point)
    if (random.chance(0.006)) refusing = 1 + random.below(12)
    return null
  }
}

/** Puts what the coder's processes say on the wire. Their own end is not a message: the host is their parent. */
export function overWire(coder: ScriptedCoder, wire: Wire): void {
  const start = coder.start.bind(coder)
  coder.start = (spec, signal) => start({ ...spec, onSignal: (said) => { if (said.is === 'exited') spec.onSignal(said); else wire.send(() => { spec.onSignal(said) }) } }, signal)
}

/** A lead that mostly says the right thing, at times nothing usable, and leaves some questions to the owner. */
export function unsteadyLead(random: Random, calm: () => boolean): (asked: { readonly system: string }) => string {
  return (asked) => {
    if (!calm() && random.chance(0.15)) return 'I would rather not.'
    if (asked.system.includes('Purpose: answer') && random.chance(0.3)) return leadSays.answer(null)
    return steadyLead(asked)
  }
}

/** Ports fail, or work again. */
export function unsettle(room: ScriptedRoom, random: Random): void {
  const { coder, workspace, sandbox } = room
  const at = (chance: number): boolean => random.chance(chance)
  coder.submitAnswer = at(0.1) ? err(ambiguous) : at(0.03) ? err(broken) : ok(null)
  coder.abortAnswer = at(0.2) ? err(broken) : ok({ observed: true, how: 'simulated' })
  coder.permissionAnswer = at(0.1) ? err(broken) : ok(null)
  coder.questionAnswer = at(0.2) ? err(broken) : ok(null)
  coder.startAnswer = at(0.05) ? broken : null
  coder.sessionAnswer = at(0.03) ? broken : null
  coder.reconcileAnswer = at(0.2) ? broken : null
  coder.unprovable = at(0.1)
  workspace.applyRefusal = at(0.2) ? 'src/a.ts changed.' : null
  workspace.applyBreaks = at(0.3)
  workspace.applySeen = at(0.1) ? 'unclear' : 'as-it-was'
  workspace.prepareRefusal = at(0.03) ? broken : null
  if (at(0.3)) sandbox.exitCodes.push(random.below(2))
}

/** Everything works from now on; an apply that is to break off still does, once, since most results are applied only now. */
export function settleWorld(room: ScriptedRoom): void {
  const { coder, workspace, sandbox } = room
  coder.submitAnswer = ok(null)
  coder.abortAnswer = ok({ observed: true, how: 'simulated' })
  coder.permissionAnswer = ok(null)
  coder.questionAnswer = ok(null)
  coder.startAnswer = null
  coder.sessionAnswer = null
  coder.reconcileAnswer = null
  coder.unprovable = false
  workspace.applyRefusal = null
  workspace.applySeen = 'as-it-was'
  workspace.prepareRefusal = null
  sandbox.exitCodes.splice(0)
}

/** What was let through the broker, by task: for the account of grants. */
export type Ledger = Map<TaskId, string[]>

/** What a coder's process may say or do next, in its place or out of it. */
export async function coderActs(coder: ScriptedCoder, random: Random, ledger: Ledger, names: () => string): Promise<void> {
  const run = coder.runs.length === 0 ? undefined : random.pick(coder.runs)
  if (run === undefined || (run.stopped && !random.chance(0.1))) return
  const signalId = random.chance(0.15) ? `again-${String(random.below(6))}` : undefined
  const callId = `call_${String(random.below(12))}` as CallId
  const command = random.pick(commands)
  const moves: (() => void)[] = [
    () => { run.say({ is: random.pick(['busy', 'idle'] as const) }, signalId) },
    () => { run.say({ is: 'text', partId: `prt_${String(random.below(5))}`, reasoning: random.chance(0.5), text: `words ${names()}`, done: random.chance(0.5) }, signalId) },
    () => { run.say({ is: 'tool-pending', callId, tool: 'bash' }, signalId) },
    () => { run.say({ is: 'tool-running', callId, tool: 'bash', input: { command }, output: null }, signalId) },
    () => { run.say({ is: 'tool-ended', callId, tool: random.pick(['bash', 'write']), outcome: random.pick(['done', 'failed', 'interrupted'] as const), input: { command }, output: 'x', title: null, exitCode: 0 }, signalId) },
    () => { run.say({ is: 'permission-asked', permissionId: `per_${names()}`, callId: random.chance(0.5) ? callId : null, permission: random.chance(0.98) ? 'bash' : 'webfetch', patterns: [command], command, workdir: random.chance(0.9) ? '/workspace' : '/etc', files: [], diff: null }, signalId) },
    () => { run.say({ is: 'question-asked', questionId: `que_${names()}`, callId: null, questions: [{ question: `Which? ${names()}`, header: '', options: ['a', 'b'], multiple: false }] }, signalId) },
    () => { ask(run, names(), command, random, ledger) },
    () => { sayTurnEnded(run, 'done', random.chance(0.85) ? 'completed' : 'failed') },
    () => { sayTurnEnded(run, 'done') },
    () => { run.say({ is: 'turn-ended', messageId: random.pick(['none', ...run.submitted.map((turn) => turn.messageId)]), outcome: 'completed', finish: 'stop', text: 'late', error: null, errorCode: null }, signalId) },
    () => { if (random.chance(0.3)) { run.stopped = true; run.say({ is: 'exited', code: 1, signal: null }) } },
  ]
  // A process that was told nothing has nothing to ask and nothing to end.
  random.pick(run.submitted.length === 0 ? moves.slice(0, 3) : moves)()
  await Promise.resolve()
}

/** A command at the broker; what it is told is kept for the account of grants. Its caller may go away. */
function ask(run: ScriptedRun, name: string, text: string, random: Random, ledger: Ledger): void {
  const caller = new AbortController()
  const { taskId } = run.spec
  void run.spec.decideCommand({ askId: `ask_${name}`, text, cwd: '/workspace' }, caller.signal).then((verdict) => {
    if (verdict.verdict !== 'run') return
    ledger.set(taskId, [...(ledger.get(taskId) ?? []), text])
    run.spec.onCommandEnded({ askId: `ask_${name}`, text, cwd: '/workspace', exitCode: random.below(2), refused: null, logDigest: digestOfText('log'), logTail: '', durationMs: 1, limitHit: null })
  }).catch((error: unknown) => { if (!(error instanceof DeadLife)) throw error })
  if (random.chance(0.2)) queueMicrotask(() => { caller.abort() })
}
