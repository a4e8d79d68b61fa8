import { describe, expect, it } from 'vitest'
import { budgetMaxima } from '../../../src-preload/contract/limits.ts'
import type { BudgetLimits } from '../../../src-preload/contract/task.ts'
import type { TaskCommand } from './commands.ts'
import { brokenLaws } from './laws.ts'
import { activeTurn, waitingHolds } from './model.ts'
import { aTask, collect, playToWork, remoteTarget, say, submitTurn, type Played } from './played.suite.ts'

/** A result whose check has not passed, under this budget. */
function notPassed(budget: Partial<BudgetLimits>, more: Parameters<typeof say.open>[0] = {}): Played {
  const task = playToWork(say.open({ ...more, task: { budget: { ...aTask.budget, ...budget } } }))
  task.endTurn()
  return collect(task).play(say.verified(false))
}
const titles = (task: Played): string[] => waitingHolds(task.state).map(({ hold }) => hold.title)
const fact = (task: Played, label: string): string | undefined => waitingHolds(task.state)[0]?.hold.facts.find((each) => each.label === label)?.value

describe('a check that did not pass', () => {
  it('sends the result back while the budget has a turn and two messages for that', () => {
    const task = notPassed({ turnsMax: 2, messagesMax: 4 })
    expect([task.state.status, activeTurn(task.state)?.kind, titles(task)]).toEqual(['working', 'correction', []])
  })

  it.each([['turns', { turnsMax: 1 }], ['messages', { messagesMax: 3 }]] as const)('asks the owner for the %s that a correction takes, and sends nothing until then', (cap, budget) => {
    const task = notPassed(budget)
    expect([task.state.status, task.state.phase, activeTurn(task.state), titles(task), task.effects]).toEqual(['blocked', 'verifying', null, [`Bot B has used up its ${cap}`], []])
    expect([fact(task, 'Then'), fact(task, 'If you deny')]).toEqual(['the result goes back to Bot B, which mends it in a new turn', 'the result comes to you as it is, with the check that did not pass'])
    task.decideHold('approved')
    expect([task.state.status, activeTurn(task.state)?.kind]).toEqual(['working', 'correction'])
    expect(task.events.filter((event) => event.type === 'envelope-posted').at(-1)).toMatchObject({ from: 'lead', kind: 'request' })
    submitTurn(task).endTurn()
    collect(task).play(say.verified(true), say.reviewed)
    expect([task.state.status, task.state.verified]).toEqual(['result-ready', true])
    expect(brokenLaws(task.history)).toEqual([])
  })

  it('asks for one cap after the other where both are used up', () => {
    const task = notPassed({ turnsMax: 1, messagesMax: 3 })
    const asked = titles(task)
    task.decideHold('approved')
    asked.push(...titles(task))
    task.decideHold('approved')
    expect([asked, activeTurn(task.state)?.kind]).toEqual([['Bot B has used up its turns', 'Bot B has used up its messages'], 'correction'])
    expect(brokenLaws(task.history)).toEqual([])
  })

  const ends: readonly (readonly [string, (task: Played) => void])[] = [
    ['the owner denies it', (task) => { task.decideHold('denied') }],
    ['the deadline passes', (task) => { task.now = task.state.deadlineAt; task.play({ is: 'deadline-passed' }) }],
    ['the owner approves when time is up', (task) => { const { approvalId } = waitingHolds(task.state)[0]!.hold; task.show(approvalId); task.now = task.state.deadlineAt; task.decideHold('approved', approvalId) }],
  ]
  it.each(ends)('gives the owner the result as it is when %s', (_, end) => {
    const task = notPassed({ turnsMax: 1 })
    end(task)
    expect([task.state.phase, task.effects]).toEqual(['reviewing', [{ kind: 'lead.review' }]])
    task.now = task.state.deadlineAt + 1
    if (task.state.phaseSince >= task.state.deadlineAt) task.play({ is: 'deadline-passed' })
    task.play(say.reviewed)
    expect([task.state.status, task.state.verified, waitingHolds(task.state).map(({ hold }) => hold.kind)]).toEqual(['result-ready', false, ['acceptance']])
    expect(task.decideHold('approved')).toMatchObject({ ok: false, error: { code: 'verification-failed' } })
    expect(brokenLaws(task.history)).toEqual([])
  })

  it('gives it to the owner also without a lead that may speak', () => {
    const task = notPassed({ turnsMax: 1 }, { lead: remoteTarget })
    expect(titles(task)).toEqual(['Bot B has used up its turns'])
    task.decideHold('denied')
    expect(['reviewing', 'acceptance-waits']).toContain(task.state.phase)
    expect(brokenLaws(task.history)).toEqual([])
  })

  const broke: TaskCommand = { is: 'effect-failed', effect: 'verify.run', failure: { code: 'unavailable', message: 'broke', todo: '' } }
  it.each([['the check itself broke', broke], ['it passed', say.verified(true)]] as const)('asks for nothing where %s', (_, check) => {
    const task = playToWork(say.open({ task: { budget: { ...aTask.budget, turnsMax: 1 } } }))
    task.endTurn()
    collect(task).play(check)
    expect([titles(task), task.state.phase]).toEqual([[], 'reviewing'])
  })

  it('asks for nothing where nothing can be raised: every turn that any owner may allow is used', () => {
    const task = playToWork(say.open({ task: { budget: { ...aTask.budget, turnsMax: budgetMaxima.turnsMax, messagesMax: budgetMaxima.messagesMax } } }))
    for (let turn = 1; turn < budgetMaxima.turnsMax; turn += 1) {
      task.endTurn()
      collect(task).play(say.verified(false))
      submitTurn(task)
    }
    task.endTurn()
    collect(task).play(say.verified(false))
    expect([task.state.turns.length, titles(task), task.state.phase]).toEqual([budgetMaxima.turnsMax, [], 'reviewing'])
  })

  it('waits through a restart and through the end of its process, and takes a late word of the check for nothing', () => {
    const task = notPassed({ turnsMax: 1 })
    task.play({ is: 'coder-exited', how: 'code 1' }, say.restarted, say.verified(true))
    expect([titles(task), task.state.verified, task.state.recovery]).toEqual([['Bot B has used up its turns'], false, null])
    task.decideHold('approved')
    expect(task.effects).toEqual([{ kind: 'coder.start' }])
    task.play(say.started)
    expect(task.effects).toMatchObject([{ kind: 'coder.submit' }])
    expect(brokenLaws(task.history)).toEqual([])
  })

  it('is withdrawn with its task', () => {
    const task = notPassed({ turnsMax: 1 }).play({ is: 'stop-task' }, say.stopped)
    expect([titles(task), task.state.status]).toEqual([[], 'cancelled'])
    expect(brokenLaws(task.history)).toEqual([])
  })
})
