import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test, vi } from 'vitest'
import { runAll } from './runners.ts'

test('a check that cannot run here is skipped with its reason and counted, and is no success by itself', async () => {
  const said: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => { said.push(line) })
  try {
    expect(await runAll([{ script: 'no-such-script', says: true, unfit: () => 'it needs root' }])).toBe(1)
  } finally {
    log.mockRestore()
  }
  expect(said).toContain('skipped: it needs root')
  expect(said.at(-1)).toBe('\n0 passed, 0 failed, 1 skipped')
})

test.skipIf(process.platform === 'win32')('what failed is told again at the end, before the closing line: of a runner without a report what it said last', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-runners-'))
  try {
    writeFileSync(join(folder, 'npm'), '#!/bin/sh\necho "on the way"\necho "the reason for $3" >&2\ntest "$3" = good\n')
    chmodSync(join(folder, 'npm'), 0o755)
    const code = `import { runAll } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'runners.ts')).href)}\nprocess.exitCode = await runAll([{ script: 'bad' }, { script: 'good' }])`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { env: { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` }, stdio: ['ignore', 'pipe', 'ignore'] })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (piece: string) => { said += piece })
    const [exit] = await once(child, 'close') as [number | null]
    expect(exit).toBe(1)
    const end = said.slice(said.indexOf('── failed in bad'))
    expect(end).toContain('the reason for bad')
    expect(end).not.toContain('the reason for good')
    expect(end.trimEnd().split('\n').at(-1)).toBe('1 passed, 1 failed, 0 skipped')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test.skipIf(process.platform === 'win32').each(['SIGTERM', 'SIGINT'] as const)('told to end by %s, it ends the check that runs, starts no other and says which were left', async (signal) => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-runners-'))
  try {
    // In the place of npm: says that it runs, and lasts until it is ended.
    writeFileSync(join(folder, 'npm'), '#!/bin/sh\necho "here runs $3"\nexec sleep 300\n')
    chmodSync(join(folder, 'npm'), 0o755)
    const code = `import { runAll } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'runners.ts')).href)}\nprocess.exitCode = await runAll([{ script: 'one' }, { script: 'two' }, { script: 'three' }])`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { env: { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` }, stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      said += piece
      if (piece.includes('here runs')) child.kill(signal)
    })
    const [exit] = await once(child, 'close') as [number | null]
    expect(exit).toBe(128 + constants.signals[signal])
    expect(said.match(/here runs \w+/g)).toEqual(['here runs one'])
    expect(said).toContain(`ended by ${signal}; not run: two, three`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
