import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CoderRun } from '../../../src-main/engine/ports.ts'
import { bounded, eventually, openCoderBench, type CoderBench } from './coder-bench.ts'
import { prompt } from './scripted-provider.ts'

/*
 * A folder on the way to an approved edit is swapped for a link. Who could: only what runs at that very moment. OpenCode runs the calls of one reply beside each
 * other, so a command may run while an edit is asked for, approved and made; nothing of a command outlives it, and beside OpenCode there is nobody.
 */
let bench: CoderBench
let swapper: ChildProcess | null = null
beforeEach(async () => {
  bench = await openCoderBench()
  for (const folder of ['d', 'other']) await mkdir(join(bench.workspaceDir, folder))
})
afterEach(async () => {
  swapper?.kill('SIGKILL')
  swapper = null
  await bench.close()
})

const write = (name: string) => ({ name: 'write', args: { filePath: `/workspace/d/${name}`, content: `${name}\n` } })
const start = (): Promise<CoderRun> => bench.start({ permissions: { edit: 'ask', bash: 'ask' } })
const names = async (folder: string): Promise<readonly string[]> => (await readdir(join(bench.workspaceDir, folder))).toSorted()

/** Command lines of whoever is in a process's process namespace. */
async function inNamespaceOf(pid: number): Promise<readonly string[]> {
  const namespaceOf = (of: string): Promise<string | null> => readlink(`/proc/${of}/ns/pid`).catch(() => null)
  const [all, wanted] = [(await readdir('/proc')).filter((name) => /^\d+$/.test(name)), await namespaceOf(String(pid))]
  const found: string[] = []
  for (const each of all) if (await namespaceOf(each) === wanted) found.push((await readFile(`/proc/${each}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ').trim())
  return found.filter((line) => line !== '')
}

describe('a folder that is swapped for a link under an edit that was approved', () => {
  test('by a command that runs beside it: the edit waits for the command\'s end, is looked at again and is not made', bounded, async () => {
    const run = await start()
    const command = 'until [ -e go ]; do sleep 0.05; done; mv d d.was; ln -s other d; touch swapped; until [ -e end ]; do sleep 0.05; done; echo over'
    await bench.submit(run, await bench.session(run), prompt({ tools: [{ name: 'bash', args: { command, description: 'x' } }, write('f')] }, { text: 'Done.' }))
    const bash = await bench.next('permission-asked', ({ permission }) => permission === 'bash')
    const edit = bench.of('permission-asked').find(({ permission }) => permission === 'edit') ?? await bench.next('permission-asked', ({ permission }) => permission === 'edit')
    expect(edit.files).toEqual([{ path: '/workspace/d/f', real: '/workspace/d/f' }])
    expect(await run.answerPermission(bash.permissionId, { allow: true })).toEqual({ ok: true, value: null })
    await writeFile(join(bench.workspaceDir, 'go'), '')
    await expect.poll(() => names(''), eventually).toContain('swapped')
    const runsAtAnswer = run.answerPermission(edit.permissionId, { allow: true }).then((answer) => ({ answer, ended: bench.runs.length }))
    await writeFile(join(bench.workspaceDir, 'end'), '')
    expect(await runsAtAnswer).toMatchObject({ ended: 1, answer: { ok: false, error: { code: 'command-refused', message: 'The edit was not made: /workspace/d/f leads elsewhere than when it was asked for.' } } })
    expect(await bench.next('tool-ended', ({ tool }) => tool === 'write')).toMatchObject({ outcome: 'failed' })
    expect([await names('other'), await names('d.was'), bench.runs[0]?.exitCode]).toEqual([[], [], 0])
  })

  test('by somebody whom nothing keeps away: each edit is made where it was approved, refused, or told of', { timeout: 900_000 }, async () => {
    const run = await start()
    await symlink('other', join(bench.workspaceDir, 'd.link'))
    for (const folder of ['', 'd', 'other']) await chmod(join(bench.workspaceDir, folder), 0o777)
    // renameat2(2) with RENAME_EXCHANGE: at each moment `d` is either the folder or the link.
    const exchange = process.arch === 'arm64' ? 276 : 316
    swapper = spawn('perl', ['-e', `@names = ("d", "d.link"); while (1) { syscall(${String(exchange)}, -100, $names[0], -100, $names[1], 2) == 0 or die "$!" }`], { cwd: bench.workspaceDir, stdio: ['ignore', 'ignore', 'inherit'] })
    const asked = new Map<string, { readonly to: 'd' | 'other'; readonly ended: string }>()
    const sessionId = await bench.session(run)
    const turn = async (rounds: readonly string[]): Promise<void> => {
      await bench.submit(run, sessionId, prompt(...rounds.map((name) => ({ tools: [write(name)] })), { text: 'Done.' }))
      for (const name of rounds) {
        const ask = await bench.next('permission-asked')
        const answered = await run.answerPermission(ask.permissionId, { allow: true })
        const ended = await bench.next('tool-ended')
        // What is approved is where it leads when it is asked for: that may be the link's target as well.
        asked.set(name, { to: ask.files[0]?.real === `/workspace/other/${name}` ? 'other' : 'd', ended: !answered.ok ? 'refused' : ended.strayed === undefined ? ended.outcome : 'told of' })
        if (!answered.ok) expect(answered.error.message).toMatch(/leads elsewhere than|cannot be compared with/)
      }
      await bench.next('turn-ended')
    }
    const of = (how: string): readonly string[] => [...asked].filter(([, { ended }]) => ended === how).map(([name]) => name)
    // How often a swap falls between the last look and the write is the machine's: until it did.
    for (let turns = 0; turns < 8 && (turns < 2 || of('told of').length === 0); turns += 1) await turn(Array.from({ length: 30 }, (_, at) => `f${String(turns)}-${String(at)}`))
    const over = once(swapper, 'exit')
    swapper.kill('SIGKILL')
    await over
    const folder = await readlink(join(bench.workspaceDir, 'd')).then(() => 'd.link', () => 'd')
    const there = { d: await names(folder), other: await names('other') }
    const landed = (name: string): string => (['d', 'other'] as const).filter((place) => there[place].includes(name)).join()
    expect(of('done').filter((name) => landed(name) !== asked.get(name)?.to)).toEqual([])
    expect(of('refused').filter((name) => landed(name) !== '')).toEqual([])
    // Control: some did land elsewhere than approved, and nothing but the last look could have told.
    const strayed = [...asked.keys()].filter((name) => landed(name) !== '' && landed(name) !== asked.get(name)?.to)
    expect(strayed.length, JSON.stringify([...asked])).toBeGreaterThan(0)
    expect(strayed.filter((name) => !of('told of').includes(name))).toEqual([])
  })

  test('by nobody beside OpenCode: what is in its sandbox, while it works, is its own binary', bounded, async () => {
    const run = await start()
    await bench.submit(run, await bench.session(run), prompt({ tools: [{ name: 'bash', args: { command: 'setsid sleep 9871 > /dev/null 2>&1 & echo left', description: 'x' } }, { name: 'glob', args: { pattern: '*' } }] }, { tools: [write('f')] }, { text: 'Done.' }))
    const bash = await bench.next('permission-asked', ({ permission }) => permission === 'bash')
    await run.answerPermission(bash.permissionId, { allow: true })
    const edit = await bench.next('permission-asked', ({ permission }) => permission === 'edit')
    const lines = await inNamespaceOf(run.pid)
    expect(lines.length).toBeGreaterThan(1)
    expect(lines.filter((line) => !/^(\S*bwrap|\/opt\/opencode\/opencode) /.test(line))).toEqual([])
    expect(await run.answerPermission(edit.permissionId, { allow: true })).toEqual({ ok: true, value: null })
    expect(await bench.next('tool-ended', ({ tool }) => tool === 'write')).toMatchObject({ outcome: 'done' })
    expect(await names('d')).toEqual(['f'])
  })
})
