import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { processorsOf } from './executable-kind.ts'

const prebuilds = resolve(import.meta.dirname, '../../node_modules/better-sqlite3/prebuilds')

test.each(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64'])('the addon of %s is told by its own bytes', (name) => {
  expect(processorsOf(readFileSync(resolve(prebuilds, `${name}.node`)).subarray(0, 4_096))).toEqual([name])
})

test('a file of two processors is for both', () => {
  const fat = Buffer.alloc(64)
  fat.writeUInt32BE(0xcafebabe, 0)
  fat.writeUInt32BE(2, 4)
  fat.writeUInt32BE(0x01000007, 8)
  fat.writeUInt32BE(0x0100000c, 28)
  expect(processorsOf(fat)).toEqual(['darwin-x64', 'darwin-arm64'])
})

test('what is no executable, or was cut short, is for nothing', () => {
  expect(processorsOf(Buffer.from('#!/bin/sh\n'.padEnd(100)))).toEqual([])
  expect(processorsOf(Buffer.from([0x7f, 0x45, 0x4c, 0x46]))).toEqual([])
})
