import { DeadLife } from '../../src-main/adapters/memory/mortal.ts'
import { sayTurnEnded, sayWrite, type ScriptedCoder, type ScriptedRun } from '../../src-main/adapters/memory/scripted-coder.ts'
import type { ScriptedRoom } from '../../src-main/adapters/memory/scripted-room.ts'
import { digestOfText } from '../../src-main/core/digest.ts'
import type { TaskEvent } from '../../src-main/core/task/events.ts'
import { isFinished, openQuestion, waitingHolds, type TaskState } from '../../src-main/core/task/model.ts'
import type { Failure, FailureCode } from '../../src-preload/contract/failure.ts'
import type { CallId, TaskId } from '../../src-preload/contract/ids.ts'
import type { Result } from '../../src-preload/contract/result.ts'
import type { RecoveryExit } from '../../src-preload/contract/task.ts'

export interface CoderScript { readonly asks: boolean; readonly command: string | null }

/**
 * A coder that works by itself: asks once in a task's life, wants one command outside the grant, writes a file, runs the tests and ends.
 * It remembers over restarts what it asked, as its session would.
 */
export function selfActingCoder(script: CoderScript = { asks: true, command: 'bun scripts/check-style.ts' }): (coder: ScriptedCoder) => void {
  const asked = new Set<string>()
  let count = 0
  const next = (prefix: string): string => { count += 1; return `${prefix}_${String(count)}` }
  return (coder) => {
    coder.onTaken = (run, what) => {
      queueMicrotask(() => {
        if (run.stopped) return
        if (what === 'permission') { finishTurn(run, next); return }
        run.say({ is: 'busy' })
        if (what === 'prompt' && script.asks && !asked.has(run.spec.taskId)) {
          asked.add(run.spec.taskId)
          run.say({ is: 'question-asked', questionId: next('que'), callId: null, questions: [{ question: 'And at exactly 50?', header: 'Boundary', options: ['1.90', '4.90'], multiple: false }] })
        } else if (script.command === null) finishTurn(run, next)
        else run.say({ is: 'permission-asked', permissionId: next('per'), callId: null, permission: 'bash', patterns: [script.command], command: script.command, workdir: '/workspace', files: [], diff: null })
      })
    }
  }
}

/** A file written, the tests run through the broker, and the turn's end. */
function finishTurn(run: ScriptedRun, next: (prefix: string) => string): void {
  sayWrite(run, next('call'), '/workspace/src/a.ts', 'export const price = 190\n')
  const callId = next('call') as CallId
  const command = 'bun test'
  run.say({ is: 'tool-running', callId, tool: 'bash', input: { command }, output: null })
  const askId = next('ask')
  void run.spec.decideCommand({ askId, text: command, cwd: '/workspace' }, new AbortController().signal).then((verdict) => {
    if (run.stopped) return
    const ran = verdict.verdict === 'run'
    run.spec.onCommandEnded({ askId, text: command, cwd: '/workspace', exitCode: ran ? 0 : null, refused: ran ? null : verdict.reason, logDigest: digestOfText('log'), logTail: '1 pass', durationMs: 5, limitHit: null })
    run.say({ is: 'tool-ended', callId, tool: 'bash', outcome: ran ? 'done' : 'failed', input: { command }, output: '1 pass', title: command, exitCode: ran ? 0 : 1 })
    run.say({ is: 'idle' })
    sayTurnEnded(run, 'The price is right now.')
  }).catch((error: unknown) => { if (!(error instanceof DeadLife)) throw error })
}

/** The exits that an owner tries in turn while a task stays uncertain. */
const exits: readonly RecoveryExit[] = ['re-check', 'resend', 'mark-done']

/**
 * An owner who approves what waits, answers what is asked, finds a way out of uncertainty, and starts the app again where it died, until the
 * task is finished. Gives the state in the end; throws when nothing moves any more.
 */
export async function seeThrough(room: ScriptedRoom, taskId: TaskId): Promise<TaskState> {
  let tried = 0
  for (let round = 0; round < 80; round += 1) {
    if (!room.life.alive) await room.restart()
    await room.settle()
    if (!room.life.alive) continue
    const state = room.engine.state(taskId)
    if (state === undefined) throw new Error('the task is gone')
    if (isFinished(state.status) && state.workspaceDisposed) return state
    const question = openQuestion(state)
    if (waitingHolds(state).length > 0) await room.decide(taskId, 'approved')
    else if (state.recovery !== null) { await room.give(taskId, { is: 'resolve-recovery', exit: exits[tried % exits.length] ?? 're-check' }); tried += 1 }
    else if (question?.state === 'asked-owner') await room.give(taskId, question.purpose === 'brief' ? { is: 'write-brief', brief: { goal: 'g', scope: '', criteria: [], testCommand: 'bun test', excerpts: [] } } : { is: 'answer-question', questionId: question.questionId, text: 'the better price' })
    else await room.time.advance(1_000)
  }
  const stuck = room.state(taskId)
  throw new Error(`nothing moves any more: ${stuck.status}, ${stuck.phase}, recovery ${String(stuck.recovery?.what)}`)
}

/** With which code something was refused; null when it was taken. A refusal must be refused for its own reason, not for any. */
export function refusedAs(result: Result<unknown, Failure>): FailureCode | null {
  return result.ok ? null : result.error.code
}

/** A task's whole history, as the journal has it. */
export function eventsOf(room: ScriptedRoom, taskId: TaskId): TaskEvent[] {
  return [...room.journal.read(taskId)].map((stored) => stored.payload as TaskEvent)
}

export type Posted = Extract<TaskEvent, { type: 'envelope-posted' }>
/** The envelopes that a task's bots sent each other. */
export function envelopesOf(room: ScriptedRoom, taskId: TaskId): Posted[] {
  return eventsOf(room, taskId).filter((event) => event.type === 'envelope-posted')
}

/** Opens a task and sees it to its first submitted turn. */
export async function toWork(room: ScriptedRoom, change: Parameters<ScriptedRoom['create']>[0] = {}): Promise<TaskId> {
  const taskId = await room.create(change)
  await room.decide(taskId, 'approved')
  return taskId
}

/** Ends the task's running turn and sees it to a result that waits for the owner. */
export async function toResult(room: ScriptedRoom, taskId: TaskId): Promise<void> {
  sayTurnEnded(room.coder.run(taskId))
  await room.settle()
}
