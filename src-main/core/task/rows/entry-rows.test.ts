import { expect, it } from 'vitest'
import { recoveryExitSchema } from '../../../../src-preload/contract/task.ts'
import { exitNames } from '../exit-names.ts'
import { playToWork } from '../played.suite.ts'
import { project } from './project.ts'

it.each(recoveryExitSchema.options)('what was resolved by %s names the exit', (exit) => {
  const rows = project(playToWork().state, { type: 'recovery-resolved', exit, detail: 'The owner decided.' }, { at: 1, order: 1, get: () => undefined })
  expect(rows).toMatchObject([{ body: { is: 'notice', text: `Resolved by ${exitNames[exit]}: The owner decided.` } }])
})

it('a stop that was asked for leaves the task what it is until its end is proven', () => {
  const task = playToWork().play({ is: 'stop-task' })
  const rows = task.history.slice(-3).flatMap(({ payload }) => project(task.state, payload, { at: 1, order: 1, get: () => undefined }))
  expect(rows).toContainEqual(expect.objectContaining({ body: { is: 'status', status: 'working', text: expect.stringContaining('Stop requested') as string } }))
  expect(task.state.cancel).not.toBeNull()
})
