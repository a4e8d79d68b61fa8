import { describe, expect, it } from 'vitest'
import { describeEvent } from './describe.ts'
import { aTask, playTask, playToStart, playToWork, say } from './played.suite.ts'
import { taskRow } from './rows/task-row.ts'
import { coderSystem } from './turn-text.ts'

const cli = say.open({ task: { runtime: 'opencode-run' } })
const live = { isolation: null, waiting: null }

describe('a task whose Bot B runs as the OpenCode CLI', () => {
  it('is so for good, from its first event to its row, its card and the audit', () => {
    const task = playToWork(cli)
    expect(task.events[0]).toMatchObject({ type: 'task-opened', runtime: 'opencode-run' })
    expect(taskRow(task.state, live).runtime).toBe('opencode-run')
    const brief = [...task.state.holds.values()].find((record) => record.hold.kind === 'brief')
    expect(brief?.hold.facts).toContainEqual({ label: 'Runtime', value: expect.stringContaining('OpenCode CLI') as string, exact: false, authoredBy: 'host' })
    expect(task.events.slice(0, 1).map(describeEvent)[0]).toContain('OpenCode CLI')
  })

  it('is not begun when its edits must ask, with what to do', () => {
    expect(() => playTask(say.open({ task: { runtime: 'opencode-run', grant: { ...aTask.grant, edits: 'ask' } } }))).toThrow(/cannot ask before each edit/)
    expect(() => playTask(say.open({ task: { grant: { ...aTask.grant, edits: 'ask' } } }))).not.toThrow()
  })

  it('is told that it cannot ask; one with a server is told to ask', () => {
    expect(coderSystem('opencode-run')).not.toContain('question tool')
    expect(coderSystem('opencode-server')).toContain('question tool')
  })
})

describe('a task of a journal that knows no runtimes', () => {
  it('runs with the OpenCode server', () => {
    const task = playToWork()
    expect(task.events[0]).not.toHaveProperty('runtime')
    expect(taskRow(task.state, live).runtime).toBe('opencode-server')
  })
})

describe('what the owner should know of a run beforehand', () => {
  it('stands in the room, and on record', () => {
    const task = playToStart(cli)
    task.play({ ...say.started, notes: ['The observer is off.'] })
    expect(task.events).toContainEqual({ type: 'noted', level: 'warning', text: 'The observer is off.', todo: null })
    expect(task.events.find(({ type }) => type === 'coder-started')).not.toHaveProperty('notes')
  })
})
