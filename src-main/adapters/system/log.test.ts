import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createLog } from './log.ts'
import { createRotatingFile } from './rotating-file.ts'
import { scratchFolder } from './scratch.suite.ts'

const linesOf = (path: string): Record<string, unknown>[] => readFileSync(path, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>)

describe('log', () => {
  it('writes one JSON object a line, with time, level and facts', async () => {
    const dir = join(scratchFolder(), 'logs')
    const log = createLog({ dir, name: 'main', clock: { now: () => 42 }, redact: (text) => text })
    log.info('task-opened', { taskId: 'task_1', attempts: 2 })
    log.warn('slow')
    log.error('failed', {}, new TypeError('broken'))
    await log.flush()
    expect(linesOf(join(dir, 'main.jsonl'))).toMatchObject([
      { level: 'info', time: 42, event: 'task-opened', taskId: 'task_1', attempts: 2 }, { level: 'warn', event: 'slow' }, { level: 'error', event: 'failed', cause: 'TypeError: broken', stack: expect.any(String) },
    ])
    expect(statSync(join(dir, 'main.jsonl')).mode & 0o777).toBe(0o600)
  })

  it('never holds a secret or a whole prompt', async () => {
    const dir = scratchFolder()
    const log = createLog({ dir, name: 'main', clock: { now: () => 0 }, redact: (text) => text.replaceAll('hunter2', '[redacted]') })
    log.error('failed', { text: `hunter2${'x'.repeat(5_000)}` }, new Error('key hunter2'))
    log.error('failed', {}, 'hunter2')
    log.info('said hunter2')
    await log.flush()
    const text = readFileSync(join(dir, 'main.jsonl'), 'utf8')
    expect(text).not.toContain('hunter2')
    expect(text).toContain('(5010 characters)')
  })

  it('starts a new file when one is full, and keeps so many', async () => {
    const dir = scratchFolder()
    const log = createLog({ dir, name: 'main', clock: { now: () => 0 }, redact: (text) => text, bytesMax: 400, keptMax: 2 })
    for (let n = 0; n < 40; n++) {
      log.info('line', { n })
      await log.flush()
    }
    expect(readdirSync(dir).sort()).toEqual(['main.1.jsonl', 'main.2.jsonl', 'main.jsonl'])
    const numbers = ['main.2.jsonl', 'main.1.jsonl', 'main.jsonl'].flatMap((name) => linesOf(join(dir, name)).map((line) => line['n']))
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => 40 - numbers.length + index))
    for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).size).toBeLessThanOrEqual(400)
  })
})

describe('rotating file', () => {
  it('counts the lines that the disk refused, and says so when it works again', async () => {
    const dir = scratchFolder()
    const path = join(dir, 'main.jsonl')
    mkdirSync(path)
    const file = createRotatingFile({ dir, name: 'main', bytesMax: 1e6, keptMax: 1, waitingBytesMax: 1e6 })
    file.write('1')
    file.write('2')
    await file.flush()
    rmdirSync(path)
    file.write('3')
    await file.flush()
    file.write('4')
    await file.flush()
    expect(readFileSync(path, 'utf8').split('\n')).toEqual([JSON.stringify({ event: 'log-lines-lost', lines: 2, why: 'EISDIR' }), '3', '4', ''])
  })

  it('is bounded while the disk is slow, and counts what did not fit', async () => {
    const dir = scratchFolder()
    const file = createRotatingFile({ dir, name: 'main', bytesMax: 1e6, keptMax: 1, waitingBytesMax: 100 })
    file.write('first') // Leaves at once, and is being written while the others wait.
    for (let n = 0; n < 100; n++) file.write('x'.repeat(9))
    await file.flush()
    file.write('last')
    await file.flush()
    const lines = readFileSync(join(dir, 'main.jsonl'), 'utf8').trimEnd().split('\n')
    expect(lines.filter((line) => line === 'x'.repeat(9)).length).toBeLessThanOrEqual(10)
    const lost = lines.filter((line) => line.includes('log-lines-lost')).reduce((sum, line) => sum + (JSON.parse(line) as { lines: number }).lines, 0)
    expect(lost + lines.filter((line) => !line.includes('log-lines-lost')).length).toBe(102)
  })
})
