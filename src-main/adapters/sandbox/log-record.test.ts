import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { startLogRecord } from './log-record.ts'

test('digests every byte however it was cut, and keeps the end', () => {
  const whole = Buffer.from(Array.from({ length: 5_000 }, (_value, index) => `line ${String(index)} ä\n`).join(''))
  const log = startLogRecord()
  for (let at = 0; at < whole.length; at += 997) log.add(whole.subarray(at, at + 997))
  const { logDigest, logTail } = log.finish()
  expect(logDigest).toBe(`sha256:${createHash('sha256').update(whole).digest('hex')}`)
  expect(log.bytes()).toBe(whole.length)
  expect(whole.toString('utf8').endsWith(logTail)).toBe(true)
  expect(Buffer.byteLength(logTail)).toBeGreaterThan(15_990)
})

test('never begins a cut tail in the middle of a character', () => {
  for (const pad of [0, 1, 2, 3]) {
    const log = startLogRecord()
    log.add(Buffer.from('x'.repeat(pad) + '😀'.repeat(6_000)))
    expect(log.finish().logTail).not.toContain('\uFFFD')
  }
})

test('keeps a short log whole', () => {
  const log = startLogRecord()
  log.add(Buffer.from('short'))
  expect(log.finish().logTail).toBe('short')
})
