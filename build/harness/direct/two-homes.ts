import type { CommandId, TaskId } from '../../../src-preload/contract/ids.ts'
import type { NewTask } from '../../../src-preload/contract/methods.ts'
import { newTask, steadyLead, type RoomOptions, type ScriptedRoom } from '../../../src-main/adapters/memory/scripted-room.ts'
import { digestOfText } from '../../../src-main/core/digest.ts'
import type { Envelope } from '../../../src-main/core/envelope/codec.ts'
import type { Peer } from '../../../src-main/core/envelope/mailbox.ts'
import { isFinished } from '../../../src-main/core/task/model.ts'
import { envelopesOf } from '../actors.ts'
import type { Ground } from '../matrix.ts'
import { createDirectNetwork, type DirectNetwork, type Weather } from './network.ts'
import { openPostOffice, type PostOffice } from './post-office.ts'
import { createRemoteCoder, inputOf } from './remote-coder.ts'
import { createRemoteLead, type RemoteLead } from './remote-lead.ts'

export const adaLead: Peer = { owner: 'ada', bot: 'lead' }
export const boCoder: Peer = { owner: 'bo', bot: 'coder' }
export const conversation = 'ada-and-bo'
export const leadKinds = ['request', 'answer', 'cancel'] as const
export const coderKinds = ['question', 'progress', 'result', 'failure', 'cancel-observed'] as const

export interface Home { readonly room: ScriptedRoom; readonly office: PostOffice }

/** Ada's home, whose lead gives tasks, and Bo's home, whose coder works on them. Two owners, two engines, two journals, one conversation. */
export interface TwoHomes {
  readonly ada: Home
  readonly bo: Home
  readonly network: DirectNetwork
  /** Both owners allow both directions. */
  allowAll(): void
  /** Ada opens a task; Bo, who was told of it, enrols it. Gives its id, the same in both homes. */
  invite(commandId: string, change?: Partial<NewTask>, enrols?: boolean): Promise<TaskId>
  /** Lets everything happen that can, in both homes and between them. */
  pump(): Promise<void>
}

export async function openTwoHomes(ground: Ground, options: { readonly weather?: Weather; readonly ada?: Omit<RoomOptions, 'journal'>; readonly bo?: Omit<RoomOptions, 'journal'> } = {}): Promise<TwoHomes> {
  const network = createDirectNetwork(ground.random, options.weather)
  const coder = createRemoteCoder({ clock: { now: () => homes.ada.room.time.now() }, office: () => homes.ada.office, journal: () => homes.ada.room.journal, generation: (taskId) => homes.ada.room.state(taskId).generation })
  const lead = createRemoteLead({ office: () => homes.bo.office, journal: () => homes.bo.room.journal })
  const adaRoom = await ground.room({ leadAnswers: steadyLead, ...options.ada, remoteCoder: () => coder })
  const boRoom = await ground.room({ ...options.bo, remoteLead: () => lead })
  const homes = {
    ada: { room: adaRoom, office: openPostOffice({ self: adaLead, other: boCoder, conversation, transport: network.end(adaLead), clock: adaRoom.time, journal: () => adaRoom.journal }) },
    bo: { room: boRoom, office: openPostOffice({ self: boCoder, other: adaLead, conversation, transport: network.end(boCoder), clock: boRoom.time, journal: () => boRoom.journal }) },
  }
  const invited = new Map<string, { readonly commandId: string; readonly change: Partial<NewTask> }>()
  homes.ada.office.onTaken((envelope) => { coder.taken(envelope) })
  homes.bo.office.onTaken((envelope) => { lead.taken(envelope); void atBo(homes.bo, lead, envelope, invited.get(envelope.taskId)) })
  const reported = new Set<string>()
  return {
    ...homes, network,
    allowAll: () => { for (const { office } of [homes.ada, homes.bo]) { office.permit(adaLead, boCoder, leadKinds); office.permit(boCoder, adaLead, coderKinds) } },
    invite: async (commandId, change = {}, enrols = true) => {
      const taskId = taskOf(commandId)
      invited.set(taskId, { commandId, change })
      const route = { transport: 'direct', scope: 'direct', conversation } as const
      homes.ada.office.enrol({ route: { ...route, from: boCoder, to: adaLead }, taskId, plays: 'coder', generation: 1, input: null, sessionId: `direct/${taskId}` })
      if (enrols) homes.bo.office.enrol({ route: { ...route, from: adaLead, to: boCoder }, taskId, plays: 'lead', generation: 1, input: null, sessionId: null })
      const created = await homes.ada.room.tryCreate(change, commandId)
      if (!created.ok) throw new Error(created.error.message)
      return taskId
    },
    pump: async () => {
      for (let round = 0, quiet = 0; round < 40 && quiet < 2; round += 1) {
        await homes.ada.room.settle()
        await homes.bo.room.settle()
        reportBack(homes.bo, lead, reported)
        quiet = network.deliver() === 0 ? quiet + 1 : 0
      }
    },
  }
}

/** The id that every home makes of the click that opens a task. */
export function taskOf(commandId: string): TaskId {
  return `task_${digestOfText(commandId).slice(7, 31)}` as TaskId
}

/** The click under which Bo's home opens the revision that a correction asks for. */
export function clickOfCorrection({ eventId }: Pick<Envelope, 'eventId'>): string {
  return `correction-${eventId}`
}

/**
 * What Bo's home does with what was taken: a request opens a task of its own, which waits for Bo; a correction a linked one, which waits for him as well
 * and decides nothing about the first; a cancel stops it.
 */
async function atBo(bo: Home, lead: RemoteLead, envelope: Envelope, invitation: { readonly commandId: string; readonly change: Partial<NewTask> } | undefined): Promise<void> {
  const taskId = envelope.taskId
  if (envelope.kind === 'request' && invitation !== undefined) {
    const { requirement, testCommand } = envelope.payload
    const commandId = envelope.inReplyTo === null ? invitation.commandId : clickOfCorrection(envelope)
    lead.engage(taskOf(commandId), envelope)
    await bo.room.engine.createTask(newTask(commandId, { ...invitation.change, requirement, testCommand, revisionOf: envelope.inReplyTo === null ? null : taskId }))
  }
  if (envelope.kind !== 'cancel') return
  for (const stream of bo.room.journal.streams()) if (lead.requestOf(stream)?.taskId === taskId) bo.room.engine.command(stream as TaskId, `cancel-${envelope.eventId}-${stream}` as CommandId, { is: 'stop-task' })
}

/** What came of Bo's tasks goes back once: the result as his room has it, a failure, or the proof of a stop. */
function reportBack(bo: Home, lead: RemoteLead, reported: Set<string>): void {
  for (const stream of bo.room.journal.streams()) {
    const state = bo.room.engine.state(stream as TaskId)
    const request = lead.requestOf(stream)
    if (state === undefined || request === undefined || reported.has(stream)) continue
    const about = { turnId: state.turns.at(-1)?.turnId ?? null, inReplyTo: request.eventId, input: inputOf(request) }
    const result = envelopesOf(bo.room, stream as TaskId).findLast((posted) => posted.kind === 'result')
    if (state.status === 'result-ready' && result !== undefined) bo.office.post(request.taskId, 'result', (JSON.parse(result.text) as Extract<Envelope, { kind: 'result' }>).payload, about)
    else if (state.status === 'failed') bo.office.post(request.taskId, 'failure', { code: state.failure?.code ?? 'internal', message: state.failure?.message ?? 'failed' }, about)
    else if (state.cancel?.state === 'observed') bo.office.post(request.taskId, 'cancel-observed', { method: state.cancel.proof.method, checkedProcesses: state.cancel.proof.checkedProcesses, detail: state.cancel.proof.detail }, about)
    else if (!isFinished(state.status)) continue
    reported.add(stream)
  }
}
