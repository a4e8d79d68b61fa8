import { describe, expect, test } from 'vitest'
import type { CommandVerdict } from '../../engine/ports.ts'
import { createWriteTurns, decidedInTurn, type WriteTurns } from './write-turns.ts'

const never = new AbortController().signal

/** What has been answered so far, in its order. */
function watched(turns: WriteTurns): { readonly answers: string[]; command(id: string, gone?: AbortSignal): Promise<void>; edit(id: string): Promise<void> } {
  const answers: string[] = []
  const note = (id: string) => (may: boolean): void => { answers.push(`${id}${may ? '' : ' no'}`) }
  return { answers, command: (id, gone = never) => turns.command(id, gone).then(note(id)), edit: (id) => turns.edit(id).then(note(id)) }
}

describe('who may write to a workspace', () => {
  test('commands run beside each other; an edit waits for the last of them', async () => {
    const turns = createWriteTurns()
    const seen = watched(turns)
    await Promise.all([seen.command('c1'), seen.command('c2')])
    const edit = seen.edit('e1')
    turns.commandEnded('c1')
    await seen.command('c3')
    turns.commandEnded('c2')
    expect(seen.answers).toEqual(['c1', 'c2', 'c3'])
    turns.commandEnded('c3')
    await edit
    expect(seen.answers).toEqual(['c1', 'c2', 'c3', 'e1'])
  })

  test('while an edit is made no command begins and no other edit; then commands go first', async () => {
    const turns = createWriteTurns()
    const seen = watched(turns)
    await seen.edit('e1')
    const [other, command] = [seen.edit('e2'), seen.command('c1')]
    turns.editEnded('e2')
    turns.commandEnded('c1')
    expect(seen.answers).toEqual(['e1'])
    turns.editEnded('e1')
    await command
    turns.commandEnded('c1')
    await other
    expect(seen.answers).toEqual(['e1', 'c1', 'e2'])
  })

  test('a command whose caller goes away waits no longer and never counts as running', async () => {
    const turns = createWriteTurns()
    const seen = watched(turns)
    await seen.edit('e1')
    const gone = new AbortController()
    const command = seen.command('c1', gone.signal)
    gone.abort()
    await command
    turns.editEnded('e1')
    await seen.edit('e2')
    expect(seen.answers).toEqual(['e1', 'c1 no', 'e2'])
    expect(await turns.command('c2', gone.signal)).toBe(false)
  })

  test('when the agent is gone whoever waits is told no, and whoever comes', async () => {
    const turns = createWriteTurns()
    const seen = watched(turns)
    await seen.edit('e1')
    const waiting = [seen.edit('e2'), seen.command('c1')]
    turns.close()
    await Promise.all([...waiting, seen.command('c2')])
    expect(seen.answers.toSorted()).toEqual(['c1 no', 'c2 no', 'e1', 'e2 no'])
  })
})

describe('who has to wait', () => {
  const told = (): { readonly log: string[]; readonly of: (id: string) => (waitsFor: string | null) => void } => {
    const log: string[] = []
    return { log, of: (id) => (waitsFor) => { log.push(`${id} ${waitsFor ?? 'no longer'}`) } }
  }

  test('is told for what, each time that it becomes something else, and that it waits no longer', async () => {
    const turns = createWriteTurns()
    const { log, of } = told()
    await turns.command('c1', never, of('c1'))
    const edits = [turns.edit('e1', of('e1')), turns.edit('e2', of('e2'))]
    turns.commandEnded('c1')
    await edits[0]
    const command = turns.command('c2', never, of('c2'))
    turns.editEnded('e1')
    await command
    turns.commandEnded('c2')
    await edits[1]
    expect(log).toEqual(['e1 command', 'e2 command', 'e1 no longer', 'e2 edit', 'c2 edit', 'c2 no longer', 'e2 command', 'e2 no longer'])
  })

  test('is told so too when its caller goes away or the agent is gone; who need not wait hears nothing', async () => {
    const turns = createWriteTurns()
    const { log, of } = told()
    await turns.edit('e1', of('e1'))
    const gone = new AbortController()
    const waiting = [turns.command('c1', gone.signal, of('c1')), turns.edit('e2', of('e2'))]
    gone.abort()
    turns.close()
    expect(await Promise.all(waiting)).toEqual([false, false])
    expect(log).toEqual(['c1 edit', 'e2 edit', 'c1 no longer', 'e2 no longer'])
  })
})

test('a command whose standing grant ends while it waits for an edit is decided anew, and keeps no edit away meanwhile', async () => {
  const turns = createWriteTurns()
  await turns.edit('e1')
  let stood = true
  let ownerSays: (verdict: CommandVerdict) => void = () => undefined
  const verdicts = [Promise.resolve<CommandVerdict>({ verdict: 'run', stands: () => stood }), new Promise<CommandVerdict>((resolve) => { ownerSays = resolve })]
  const decided = decidedInTurn(turns, 'c1', never, () => verdicts.shift() ?? Promise.reject(new Error('decided too often')))
  await expect.poll(() => verdicts.length).toBe(1)
  stood = false
  turns.editEnded('e1')
  await expect.poll(() => verdicts.length).toBe(0)
  expect(await turns.edit('e2')).toBe(true)
  turns.editEnded('e2')
  ownerSays({ verdict: 'refuse', reason: 'the owner denied it' })
  expect(await decided).toEqual({ verdict: 'refuse', reason: 'the owner denied it' })
})

test('a command that cannot be decided anew is refused when its standing grant ends while it waits, and keeps no edit away', async () => {
  const turns = createWriteTurns()
  await turns.edit('e1')
  let stood = true
  const decided = decidedInTurn(turns, 'c1', never, () => Promise.resolve({ verdict: 'run', stands: () => stood, otherwise: 'it has ended' }))
  stood = false
  turns.editEnded('e1')
  expect(await decided).toEqual({ verdict: 'refuse', reason: 'it has ended' })
  expect(await turns.edit('e2')).toBe(true)
})
