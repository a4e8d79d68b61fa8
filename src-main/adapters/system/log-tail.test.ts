import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lastLogLines } from './log-tail.ts'

let dir: string
beforeEach(() => { dir = mkdtempSync(join(tmpdir(), 'tail-')) })
afterEach(() => { rmSync(dir, { recursive: true, force: true }) })

const lines = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, at) => `{"line":${from + at},"pad":"${'é'.repeat(2_000)}"}`)
const put = (name: string, all: readonly string[]): void => { writeFileSync(join(dir, name), all.map((line) => `${line}\n`).join('')) }

describe('the end of the log', () => {
  it('is its last whole lines, oldest first', async () => {
    put('a.jsonl', lines(1, 100))
    expect(await lastLogLines(dir, 'a', 3)).toEqual(lines(98, 100))
  })

  it('goes on into the file before, where the current one has just begun', async () => {
    put('a.1.jsonl', lines(1, 5))
    put('a.jsonl', lines(6, 7))
    expect(await lastLogLines(dir, 'a', 4)).toEqual(lines(4, 7))
  })

  it('never holds a line that was cut', async () => {
    put('a.jsonl', lines(1, 1_000))
    const tail = await lastLogLines(dir, 'a', 1_000)
    expect(tail).toEqual(lines(1_001 - tail.length, 1_000))
    expect(tail.length).toBeGreaterThan(20)
  })

  it('is empty where nothing was logged yet', async () => {
    expect(await lastLogLines(dir, 'a', 4)).toEqual([])
    writeFileSync(join(dir, 'a.jsonl'), '')
    expect(await lastLogLines(dir, 'a', 4)).toEqual([])
  })
})
