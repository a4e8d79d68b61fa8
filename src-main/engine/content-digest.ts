import type { Digest, TaskId } from '../../src-preload/contract/ids.ts'
import type { NewTask } from '../../src-preload/contract/methods.ts'
import { digestOfText } from '../core/digest.ts'
import type { TaskCommand } from '../core/task/commands.ts'
import { payloadText } from '../core/journal/chain.ts'

/** What a command says, as it is kept with its receipt: of a new task what its owner sent, of a signal what was signalled; what the host adds to it (`isolation`, what an edit's files hold) may differ when it comes again. */
export function contentDigestOf(taskId: TaskId, command: TaskCommand): Digest {
  return command.is === 'open-task' ? newTaskDigest(taskId, command.task) : digestOfText(payloadText({ taskId, command: { ...command, isolation: undefined, edit: undefined } }, (text) => text))
}

/** As `contentDigestOf` for a task that is to be opened: what the app finds out about models and versions meanwhile makes it no other task. */
export function newTaskDigest(taskId: TaskId, task: NewTask): Digest {
  return digestOfText(payloadText({ taskId, task }, (text) => text))
}
