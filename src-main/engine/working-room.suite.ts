import type { ApprovalId, TaskId } from '../../src-preload/contract/ids.ts'
import type { NewTask } from '../../src-preload/contract/methods.ts'
import { createMemoryJournal } from '../adapters/memory/memory-journal.ts'
import { leadSays, openScriptedRoom, type ScriptedRoom } from '../adapters/memory/scripted-room.ts'
import { createScriptedDirectory } from '../adapters/memory/scripted-world.ts'
import type { TaskState } from '../core/task/model.ts'
import type { ModelDirectory } from './ports.ts'

/** A task, in its room. */
export interface InRoom { readonly room: ScriptedRoom; readonly taskId: TaskId }

/** A room with one task whose first turn was submitted. `lead`: what Bot A says after its brief. */
export async function working({ lead = [] }: { readonly lead?: readonly string[] } = {}): Promise<InRoom & { readonly journal: ReturnType<typeof createMemoryJournal> }> {
  const journal = createMemoryJournal()
  const room = await openScriptedRoom({ leadAnswers: [leadSays.brief, ...lead], journal: () => journal })
  const taskId = await room.create()
  await room.decide(taskId, 'approved')
  return { room, taskId, journal }
}

export function stateOf({ room, taskId }: InRoom): TaskState {
  return room.state(taskId)
}

/** A command reaches the broker. */
export function askCommand(room: ScriptedRoom, text: string, signal = new AbortController().signal, askId = 'ask_1'): ReturnType<ScriptedRoom['coder']['runs'][number]['spec']['decideCommand']> {
  return room.coder.run().spec.decideCommand({ askId, text, cwd: '/workspace' }, signal)
}

/** A room about one task, which every call is of. */
export type TaskRoom = Omit<ScriptedRoom, 'state' | 'give' | 'decide'> & {
  readonly taskId: TaskId
  state(): TaskState
  give(command: Parameters<ScriptedRoom['give']>[1]): ReturnType<ScriptedRoom['give']>
  decide(verdict: 'approved' | 'denied', approvalId?: ApprovalId): ReturnType<ScriptedRoom['decide']>
}

/** A room in which one task was opened. */
export async function openTaskRoom(leadAnswers: readonly string[], { directory = createScriptedDirectory(), ...change }: Partial<NewTask> & { readonly directory?: ModelDirectory } = {}): Promise<TaskRoom> {
  const room = await openScriptedRoom({ leadAnswers, directory })
  const taskId = await room.create(change)
  return Object.create(room, {
    taskId: { value: taskId }, state: { value: () => room.state(taskId) },
    give: { value: (command: Parameters<ScriptedRoom['give']>[1]) => room.give(taskId, command) },
    decide: { value: (verdict: 'approved' | 'denied', approvalId?: ApprovalId) => room.decide(taskId, verdict, approvalId) },
  }) as TaskRoom
}

/** As `openTaskRoom`, up to the first submitted turn. `answers`: what Bot A says after its brief. */
export async function atWork(answers: readonly string[] = [], change: Partial<NewTask> = {}): Promise<TaskRoom> {
  const room = await openTaskRoom([leadSays.brief, ...answers], change)
  await room.decide('approved')
  return room
}
