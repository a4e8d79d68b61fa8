import { describe, expect, test } from 'vitest'
import type { CoderSignal } from '../../engine/ports.ts'
import { callIdSchema } from '../../../src-preload/contract/ids.ts'
import { createSignalPace } from './signal-pace.ts'

const base = { sessionId: 's', parentSessionId: null }
const text = (value: string, done = false): CoderSignal => ({ ...base, signalId: value, is: 'text', partId: 'p', reasoning: false, text: value, done })
const running = (output: string): CoderSignal => ({ ...base, signalId: output, is: 'tool-running', callId: callIdSchema.parse('c'), tool: 'bash', input: {}, output })
const idle: CoderSignal = { ...base, signalId: 'idle', is: 'idle' }

function paced(): { pace: ReturnType<typeof createSignalPace>; told: string[]; tick: () => void } {
  const told: string[] = []
  const due: (() => void)[] = []
  const pace = createSignalPace({ after: (_ms, _signal, run) => { due.push(run) } }, new AbortController().signal, (signal) => { told.push(signal.signalId) })
  return { pace, told, tick: () => { due.shift()?.() } }
}

describe('the pace of signals', () => {
  test('tells the first growth at once and then only the newest', () => {
    const { pace, told, tick } = paced()
    for (const value of ['a', 'ab', 'abc', 'abcd']) pace.push(text(value))
    expect(told).toEqual(['a'])
    tick()
    expect(told).toEqual(['a', 'abcd'])
    tick()
    pace.push(text('abcde'))
    expect(told).toEqual(['a', 'abcd', 'abcde'])
  })

  test('keeps the order: what is held goes out before anything that does not wait', () => {
    const { pace, told } = paced()
    for (const signal of [text('a'), text('ab'), running('x'), idle]) pace.push(signal)
    expect(told).toEqual(['a', 'ab', 'x', 'idle'])
  })

  test('tells the end of a text at once and drops nothing after it', () => {
    const { pace, told, tick } = paced()
    for (const signal of [text('a'), text('ab'), text('abc', true)]) pace.push(signal)
    expect(told.at(-1)).toBe('abc')
    tick(); tick()
    expect(told).toEqual(['a', 'ab', 'abc'])
  })
})
