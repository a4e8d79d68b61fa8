import { expect, test } from 'vitest'
import { late, loadOnce } from './late.ts'

interface Port { greet(name: string): Promise<string>; count(): Promise<number> }

test('an adapter is loaded at its first call and never again', async () => {
  let loads = 0
  const once = loadOnce<Port>(() => { loads += 1; return Promise.resolve({ greet: (name) => Promise.resolve(`hello ${name}`), count: () => Promise.resolve(loads) }) })
  const port: Port = late(() => once.get(), { greet: true, count: true })
  expect(loads).toBe(0)
  expect(once.now()).toBeNull()
  expect(await Promise.all([port.greet('a'), port.greet('b')])).toEqual(['hello a', 'hello b'])
  expect(await port.count()).toBe(1)
  expect(once.now()).not.toBeNull()
})

test('a method sees its own object', async () => {
  class Counter { #n = 0; next(): Promise<number> { return Promise.resolve(++this.#n) } }
  const counter = late(() => Promise.resolve(new Counter()), { next: true })
  expect(await counter.next()).toBe(1)
})

test('a load that failed is tried again by whoever asks next', async () => {
  let loads = 0
  const once = loadOnce(() => { loads += 1; return loads === 1 ? Promise.reject(new Error('not yet')) : Promise.resolve('there') })
  await expect(once.get()).rejects.toThrow('not yet')
  expect(await once.get()).toBe('there')
})
