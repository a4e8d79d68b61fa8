import { expect, test } from 'vitest'
import { Roll, type Enrolled } from './roll.ts'

const member = (name: string): Enrolled & { readonly name: string } => ({ place: 0, name })
const names = (roll: Roll<ReturnType<typeof member>>): readonly string[] => roll.all.map(({ name }) => name).sort()

test('a roll holds whoever was added and not taken out since, in whatever order they leave', () => {
  const roll = new Roll<ReturnType<typeof member>>()
  const [a, b, c] = [member('a'), member('b'), member('c')]
  for (const each of [a, b, c]) roll.add(each)
  roll.remove(a)
  expect(names(roll)).toEqual(['b', 'c'])
  roll.remove(c)
  roll.remove(c)
  roll.remove(a)
  expect([names(roll), roll.size]).toEqual([['b'], 1])
  roll.add(a)
  roll.remove(b)
  expect(names(roll)).toEqual(['a'])
})

test('who leaves while all are told is told, and nobody is passed over', () => {
  const roll = new Roll<ReturnType<typeof member>>()
  const all = ['a', 'b', 'c', 'd'].map(member)
  for (const each of all) roll.add(each)
  const told: string[] = []
  for (const each of roll.all) { told.push(each.name); roll.remove(each) }
  expect([told, roll.size]).toEqual([['a', 'b', 'c', 'd'], 0])
})
