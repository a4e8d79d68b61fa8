import { describe, expect, test } from 'vitest'
import type { CoderSignal } from '../../../engine/ports.ts'
import { createRecords } from './records.ts'
import { lineSplitter } from './runner-client.ts'

const ids = { sessionID: 'ses_1', messageID: 'msg_2' }
const record = (type: string, part: object): string => JSON.stringify({ type, timestamp: 1, sessionID: 'ses_1', part: { ...ids, ...part } })
const call = (id: string, callID: string, state: object): string => record('tool_use', { id, type: 'tool', tool: 'write', callID, state })
const done = { status: 'completed', input: { filePath: '/workspace/a' }, output: 'ok', title: 'a', metadata: {} }
const seen = (state: 'pending' | 'running', id: string, callID: string, change: object = {}): string => JSON.stringify({ type: 'countersign.call', version: 1, state, ...ids, partID: id, callID, tool: 'write', ...change })
const text = (words: string): string => record('text', { id: 'prt_9', type: 'text', text: words, time: { start: 1, end: 2 } })
const finish = (reason: string): string => record('step_finish', { id: 'prt_10', type: 'step-finish', reason })
const exit = (code: number | null, signal: string | null = null, words = ''): { code: number | null; signal: string | null; words: string; left: number } => ({ code, signal, words, left: 0 })

function read(lines: readonly string[]): { readonly signals: CoderSignal[]; readonly records: ReturnType<typeof createRecords> } {
  const records = createRecords('ses_1')
  return { signals: lines.flatMap((line) => [...records.take(line)]), records }
}

describe('the lines of a turn', () => {
  const whole = [seen('pending', 'prt_1', 'call_1'), seen('running', 'prt_1', 'call_1', { file: '/workspace/a' }), call('prt_1', 'call_1', done), text('All done.'), finish('stop')]

  test('an early word and the native record are of one call, and the record is what counts', () => {
    const { signals, records } = read(whole)
    expect(signals).toMatchObject([
      { is: 'tool-pending', callId: 'call_1', tool: 'write' }, { is: 'tool-pending', callId: 'call_1', target: '/workspace/a', begun: true },
      { is: 'tool-ended', callId: 'call_1', outcome: 'done', input: { filePath: '/workspace/a' } }, { is: 'text', text: 'All done.', done: true },
    ])
    expect(records.conclude(exit(0), false)).toEqual({ signals: [], end: { outcome: 'completed', finish: 'stop', text: 'All done.', error: null, errorCode: null } })
  })

  test('without the observer there is the record alone; twice, late or out of order there is one record still', () => {
    expect(read([call('prt_1', 'call_1', done)]).signals.map(({ is }) => is)).toEqual(['tool-ended'])
    expect(read([call('prt_1', 'call_1', done), call('prt_1', 'call_1', done), seen('running', 'prt_1', 'call_1'), seen('pending', 'prt_1', 'call_1')]).signals.map(({ is }) => is)).toEqual(['tool-ended'])
    expect(read([seen('running', 'prt_1', 'call_1'), seen('pending', 'prt_1', 'call_1'), call('prt_1', 'call_1', done)]).signals.map(({ is }) => is)).toEqual(['tool-pending', 'tool-pending', 'tool-ended'])
  })

  test('calls under one id of the vendor, or under none, stay apart, early and at their end', () => {
    const { signals } = read([seen('pending', 'prt_1', 'x'), seen('pending', 'prt_2', 'x'), seen('pending', 'prt_3', ''), call('prt_2', 'x', done), call('prt_1', 'x', done), call('prt_3', '', done)])
    const of = (is: CoderSignal['is']): string[] => signals.flatMap((signal) => signal.is === is && 'callId' in signal && signal.callId !== null ? [signal.callId] : [])
    expect(new Set(of('tool-pending')).size).toBe(3)
    expect(new Set(of('tool-ended'))).toEqual(new Set(of('tool-pending')))
  })

  test('say how often the observer failed', () => {
    expect(read([seen('pending', 'prt_1', 'c', { missed: 2 }), seen('running', 'prt_1', 'c', { missed: 5 }), seen('pending', 'prt_2', 'd')]).records.missed()).toBe(5)
  })

  test('of another session, of another shape, or no record at all mean nothing and are counted', () => {
    const { signals, records } = read([seen('pending', 'prt_1', 'c', { sessionID: 'ses_2' }), call('prt_1', 'c', done).replace('ses_1', 'ses_2'), '{"type":"new_kind","sessionID":"ses_1"}', 'Debugger attached.', '{', 'null', '[]', seen('pending', '../etc', 'c'), record('text', { id: 'prt_1' })])
    expect(signals).toEqual([])
    expect(records.ignored()).toBe(9)
  })

  test('cut after each of them, each call that was seen ends once', () => {
    for (let cut = 0; cut <= whole.length; cut += 1) {
      const { signals, records } = read(whole.slice(0, cut))
      const all = [...signals, ...records.interrupt('gone'), ...records.conclude(exit(null, 'SIGKILL'), true).signals]
      expect(all.filter(({ is }) => is === 'tool-ended')).toHaveLength(cut === 0 ? 0 : 1)
    }
  })

  test('cut at every byte give the same lines', () => {
    const bytes = Buffer.from(`\n${['{"a":"ü"}', '', '{"b":1}'].join('\n')}\n\n{"c":"€"}`)
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const lines: string[] = []
      const split = lineSplitter((line) => { lines.push(line) })
      split.push(bytes.subarray(0, cut)); split.push(bytes.subarray(cut)); split.end()
      expect(lines).toEqual(['{"a":"ü"}', '{"b":1}', '{"c":"€"}'])
    }
  })
})

describe('the end of a turn', () => {
  const error = JSON.stringify({ type: 'error', timestamp: 1, sessionID: 'ses_1', error: { name: 'APIError', data: { message: 'No budget', statusCode: 402, responseBody: '{"error":{"code":"budget_exhausted"}}' } } })
  test.each([
    ['an error that was told', [error], exit(1), { outcome: 'failed', error: 'No budget (HTTP 402)', errorCode: 'budget_exhausted' }],
    ['an error that was told, though the process says that all is well', [text('x'), finish('stop'), error], exit(0), { outcome: 'failed', errorCode: 'budget_exhausted' }],
    ['an exit code beside a good answer', [text('x'), finish('stop')], exit(1, null, '\u001b[91mError: \u001b[0mdisk full'), { outcome: 'failed', error: expect.stringMatching(/exit code 1.*Error: disk full/) as string }],
    ['a signal that was not ours', [text('x'), finish('stop')], exit(null, 'SIGKILL'), { outcome: 'failed', error: expect.stringContaining('SIGKILL') as string }],
    ['no answer at all', [], exit(0), { outcome: 'failed', error: expect.stringContaining('without an answer') as string }],
    ['an answer without a reason', [text('x')], exit(0), { outcome: 'failed', text: 'x' }],
    ['a cut answer', [text('x'), finish('length')], exit(0), { outcome: 'failed', finish: 'length' }],
    ['tool calls and nothing after them', [call('prt_1', 'c', done), finish('tool-calls')], exit(0), { outcome: 'failed' }],
  ] as const)('with %s is a failure', (_what, lines, end, expected) => {
    expect(read(lines).records.conclude(end, false).end).toMatchObject(expected)
  })

  test('that we made is an abort; one that came by itself meanwhile is what it was', () => {
    expect(read([text('x')]).records.conclude(exit(null, 'SIGKILL'), true).end.outcome).toBe('aborted')
    expect(read([text('x'), finish('stop')]).records.conclude(exit(0), true).end.outcome).toBe('completed')
  })
})
