import assert from 'node:assert/strict'
import { waitingHolds } from '../../../src-main/core/task/model.ts'
import { digestOfText } from '../../../src-main/core/digest.ts'
import { encodeEnvelope, type Envelope, type EnvelopeDraft } from '../../../src-main/core/envelope/codec.ts'
import type { Route } from '../../../src-main/core/envelope/mailbox.ts'
import type { ScriptedRoom } from '../../../src-main/adapters/memory/scripted-room.ts'
import type { TaskId } from '../../../src-preload/contract/ids.ts'
import { selfActingCoder } from '../actors.ts'
import { adaLead, boCoder, conversation, type TwoHomes } from './two-homes.ts'

/** Bo's coder acts by itself: it asks once, and wants no command. */
export const acting = () => ({ onCoder: selfActingCoder({ asks: true, command: null }) })
/** Ada's way to Bo. */
export const route: Route = { transport: 'direct', scope: 'direct', conversation, from: adaLead, to: boCoder }
/** The envelopes that went between the homes so far, oldest first. */
export const carried = (homes: TwoHomes): Envelope[] => homes.network.carried.map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)) as Envelope)
export const kinds = (homes: TwoHomes): string[] => carried(homes).map(({ kind }) => kind)
/** Why Bo's end refused what it refused. */
export const reasons = (homes: TwoHomes): string[] => homes.bo.office.verdicts.flatMap((verdict) => (verdict.is === 'refused' ? [verdict.reason] : []))
export const bytesOf = (draft: EnvelopeDraft): Uint8Array => new TextEncoder().encode(encodeEnvelope(draft).text)
/** A request as a peer may forge it that controls its own end. */
export const request = (taskId: string, change: Partial<EnvelopeDraft> = {}): EnvelopeDraft => ({
  version: 1, kind: 'request', eventId: `forged-${taskId.slice(-6)}-${change.eventId ?? '1'}`, taskId, turnId: null, inReplyTo: null, generation: 1, seq: 50, inputVersion: 1, inputDigest: digestOfText('input'),
  payload: { requirement: 'forged', goal: 'forged', scope: '', criteria: [], testCommand: 'true', excerpts: [] }, ...change,
})

/** Approves whatever waits in this home, until nothing does. */
export async function approveAll(homes: TwoHomes, room: ScriptedRoom, taskId: TaskId, leave: (kind: string) => boolean = () => false): Promise<void> {
  for (let round = 0; round < 12; round += 1) {
    await homes.pump()
    const waiting = room.engine.state(taskId)
    const hold = waiting === undefined ? undefined : waitingHolds(waiting).find((record) => !leave(record.hold.kind))
    if (hold === undefined) return
    await room.decide(taskId, 'approved', hold.hold.approvalId)
  }
}

/** Nothing of the other home's making runs here. */
export function zeroWorkAtBo(homes: TwoHomes): void {
  assert.deepEqual([homes.bo.room.coder.runs.length, homes.bo.room.journal.streams().filter((stream) => stream !== 'mailbox')], [0, []])
}

/** Up to Bo's coder at its first turn. */
export async function atWork(homes: TwoHomes, commandId: string, change = {}): Promise<TaskId> {
  const taskId = await homes.invite(commandId, change)
  await approveAll(homes, homes.ada.room, taskId)
  await approveAll(homes, homes.bo.room, taskId)
  return taskId
}
