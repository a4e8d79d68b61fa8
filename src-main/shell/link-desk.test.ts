import { describe, expect, it } from 'vitest'
import { LinkDesk } from './link-desk.ts'

/** A desk, and what hands it the arguments of a start. */
function desk(): { readonly desk: LinkDesk; readonly come: (...args: readonly string[]) => void; readonly told: () => number; readonly all: () => readonly (string | null)[] } {
  let told = 0
  let come: (args: readonly string[]) => void = () => undefined
  const made = new LinkDesk({ follow: (listener) => { come = listener } }, () => { told += 1 })
  const all = (): readonly (string | null)[] => {
    const taken: (string | null)[] = []
    while (taken.at(-1) !== null) taken.push(made.take())
    return taken
  }
  return { desk: made, come: (...args) => { come(args) }, told: () => told, all }
}

describe('links that wait for the window', () => {
  it('are taken one by one in the order in which they came, also those of one moment and of one task', () => {
    const { come, told, all } = desk()
    for (const id of ['tsk_1', 'tsk_2', 'tsk_1']) come('/opt/countersign', `countersign://task/${id}`)
    expect(told()).toBe(3)
    expect(all()).toEqual(['tsk_1', 'tsk_2', 'tsk_1', null])
    come('/opt/countersign', 'countersign://task/tsk_3')
    expect(all()).toEqual(['tsk_3', null])
  })

  it('are none where a start brings no link of ours', () => {
    const { come, told, all } = desk()
    come('/opt/countersign')
    come('/opt/countersign', 'countersign://settings')
    expect([told(), all()]).toEqual([0, [null]])
  })

  it('are bounded: of too many the oldest go', () => {
    const { come, all } = desk()
    for (let at = 1; at <= 40; at += 1) come(`countersign://task/tsk_${String(at)}`)
    const taken = all()
    expect([taken.length, taken[0], taken.at(-2)]).toEqual([17, 'tsk_25', 'tsk_40'])
  })
})
