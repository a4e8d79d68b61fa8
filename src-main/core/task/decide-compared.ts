import { failure } from '../../../src-preload/contract/failure.ts'
import { err } from '../../../src-preload/contract/result.ts'
import type { RecoveryExit } from '../../../src-preload/contract/task.ts'
import type { HostCommand, OwnerCommand } from './commands.ts'
import { closing, decided, ignored, withdrawHolds, type Decided } from './decision.ts'
import type { TaskEvent } from './events.ts'
import { uncertain, type TaskState } from './model.ts'

/** The ways out for a result whose files are others: nothing was sent, so there is nothing to resend, and what nobody made is no result. */
export const comparedExits: readonly RecoveryExit[] = ['re-check', 'mark-not-done']

/** R6. A result that an earlier life left is compared with its files. Where they differ it is uncertain, and cannot be accepted until they are back. */
export function resultCompared(state: TaskState, command: Extract<HostCommand, { is: 'result-compared' }>): Decided {
  if (state.phase !== 'acceptance-waits' || state.evidence?.treeDigest !== command.expected) return ignored
  if (command.found === command.expected) return state.recovery === null ? ignored : decided([{ type: 'recovery-resolved', exit: 're-check', detail: 'The files in the workspace are those of the result.' }])
  // Known from an earlier look already; the owner who asks is told each time.
  if (state.recovery !== null && !command.asked) return ignored
  return decided([{ type: 'recovery-needed', what: uncertain(differs(command)) }])
}

function differs({ found, why, asked }: Extract<HostCommand, { is: 'result-compared' }>): string {
  if (found === null) return asked ? `Checked again: the files of the result could not be read. ${why ?? ''}` : `The files of the result could not be read. ${why ?? ''}`
  return asked ? 'Checked again: the files in the workspace are still not those of the result.' : 'The files in the workspace are not those of the result any more: they were changed after it was recorded, or come from an older copy.'
}

/** The owner's exits from that. */
export function resolveCompared(state: TaskState, { exit }: Extract<OwnerCommand, { is: 'resolve-recovery' }>): Decided {
  if (state.evidence === null || !comparedExits.includes(exit)) return err(failure('wrong-state', 'Nothing of this result was sent, so there is nothing to resend or to mark as done.', 'Put the files back and re-check, reject the result, or request a revision.'))
  if (exit === 're-check') return decided([], [{ kind: 'workspace.observe', treeDigest: state.evidence.treeDigest }])
  return decided([...withdrawHolds(state, 'The owner rejected a result whose files are not there any more.'), ...endsUncertain(state), { type: 'rejected', reason: null }], closing(state), 'all')
}

/** A decision against an uncertain result ends its uncertainty. */
export function endsUncertain(state: TaskState): TaskEvent[] {
  return state.recovery === null ? [] : [{ type: 'recovery-resolved', exit: 'mark-not-done', detail: 'The owner decided against the result.' }]
}
