import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { VendorCli } from '../../src-preload/contract/settings.ts'
import type { VendorWord } from '../core/gateway/vendor.ts'
import { releaseAll, releaseLater } from './proxy.suite.ts'
import { plainVendorHost } from './vendor-children.ts'
import type { VendorJob } from './vendor-host.ts'
import { alive } from './vendor-program.suite.ts'

afterEach(releaseAll)

/** What a program leaves behind when it ends. `in-group`: it holds the program's output; `silent`: it holds nothing; `own-group`: it holds the output, and is out of reach. */
type Left = 'in-group' | 'silent' | 'own-group'

interface Run { readonly job: VendorJob; readonly words: readonly VendorWord[]; readonly childPid: () => number; readonly programPid: () => number }

/** A program that starts a child which never ends, says hello and ends with 0. */
function run(left: Left, onWord: (run: { readonly promptFile: string }) => void = () => undefined): Run {
  const folder = mkdtempSync(join(tmpdir(), 'cs-left-'))
  const program = join(folder, 'muse')
  const told = join(folder, 'told.json')
  const stdio = left === 'silent' ? 'ignore' : ['ignore', 'inherit', 'inherit']
  writeFileSync(program, `#!${process.execPath}
const { spawn } = require('child_process'), fs = require('fs')
const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: ${JSON.stringify(stdio)}, detached: ${String(left === 'own-group')} })
child.unref()
child.once('spawn', () => { fs.writeFileSync(${JSON.stringify(`${told}.new`)}, JSON.stringify({ child: child.pid, own: process.pid, promptFile: process.argv[2] })); fs.renameSync(${JSON.stringify(`${told}.new`)}, ${JSON.stringify(told)}); console.log('hello') })
`)
  chmodSync(program, 0o755)
  const about = (): { child: number; own: number; promptFile: string } => JSON.parse(readFileSync(told, 'utf8')) as { child: number; own: number; promptFile: string }
  releaseLater(() => {
    if (existsSync(told) && alive(about().child)) process.kill(about().child, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const cli: VendorCli = { label: 'Muse', program, serveArgs: [], execArgs: ['{promptFile}'], homeFolder: folder, folders: [], hosts: [] }
  const words: VendorWord[] = []
  const job = plainVendorHost(cli, process.env).start({ is: 'exec', prompt: 'a secret' }, (word) => { onWord(about()); words.push(word) })
  return { job, words, childPid: () => about().child, programPid: () => about().own }
}

/** The program itself has ended; what it left holds its output open. */
async function leaderGone({ programPid }: Run): Promise<void> {
  await vi.waitFor(() => { expect(alive(programPid())).toBe(false) }, 20_000)
}

const ended = ({ words }: Run): Promise<void> => vi.waitFor(() => { expect(words).toMatchObject([{ is: 'ended' }]) }, 20_000)

describe('a plain run of the vendor’s program', () => {
  test('whose program left a child that holds its output ends when it is told to, with the child', async () => {
    const running = run('in-group')
    await leaderGone(running)
    expect(running.words).toEqual([])
    running.job.stop()
    await ended(running)
    await vi.waitFor(() => { expect(alive(running.childPid())).toBe(false) }, 20_000)
  })

  test('ends when it is told to, also where a child in a group of its own holds its output', async () => {
    const running = run('own-group')
    await leaderGone(running)
    running.job.stop()
    await ended(running)
  })

  test('that ends by itself leaves nobody of its group behind', async () => {
    const running = run('silent')
    await ended(running)
    expect(running.words).toMatchObject([{ exitCode: 0, text: 'hello\n', failure: null }])
    await vi.waitFor(() => { expect(alive(running.childPid())).toBe(false) }, 20_000)
  })

  test('is told to have ended once its prompt is off the disk', async () => {
    const left: boolean[] = []
    await ended(run('silent', ({ promptFile }) => { left.push(existsSync(promptFile), existsSync(dirname(promptFile))) }))
    expect(left).toEqual([false, false])
  })

  test('may be told to end more than once, also when it has ended', async () => {
    const running = run('silent')
    await ended(running)
    running.job.stop()
    running.job.stop()
    expect(running.words).toHaveLength(1)
  })
})
