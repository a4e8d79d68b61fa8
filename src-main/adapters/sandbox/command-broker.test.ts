import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AgentProcess, CommandVerdict } from '../../engine/ports.ts'
import { openBroker } from './command-broker.ts'
import { openBench, order, type Answer, type Bench } from './sandbox.suite.ts'

let bench: Bench
let agent: AgentProcess
beforeEach(async () => {
  bench = openBench()
  agent = await bench.start()
})
afterEach(() => bench.close())

const soon = (): Promise<void> => new Promise((done) => setImmediate(done))
async function until(fact: () => boolean): Promise<void> {
  while (!fact()) await soon()
}

test('runs a granted command with its exact text and directory', async () => {
  mkdirSync(join(bench.workspaceDir, 'sub'))
  const text = 'printf "%s\\n" "a\'b  ü" $0; pwd; exit 7'
  expect(await order(agent, { text, cwd: '/workspace/sub' })).toMatchObject({ code: 7, out: 'a\'b  ü\n/usr/bin/bash\n/workspace/sub\n' })
  expect(bench.asks).toEqual([{ askId: 'ask_1', text, cwd: '/workspace/sub' }])
  expect(bench.runs).toMatchObject([{ askId: 'ask_1', text, cwd: '/workspace/sub', exitCode: 7, refused: null, limitHit: null, logTail: 'a\'b  ü\n/usr/bin/bash\n/workspace/sub\n' }])
})

test('refuses a command without a grant with exit code 126, and records that', async () => {
  bench.verdict = () => Promise.resolve({ verdict: 'refuse', reason: 'no grant for it' })
  expect(await order(agent, { text: 'touch /workspace/ran' })).toMatchObject({ code: 126, out: 'sandbox: refused: no grant for it\n' })
  expect(bench.runs).toMatchObject([{ text: 'touch /workspace/ran', exitCode: null, refused: 'no grant for it', logTail: '', logDigest: `sha256:${createHash('sha256').digest('hex')}` }])
  expect(existsSync(join(bench.workspaceDir, 'ran'))).toBe(false)
})

test('refuses when the host cannot decide', async () => {
  bench.verdict = () => Promise.reject(new Error('journal is gone'))
  expect(await order(agent, { text: 'touch /workspace/ran' })).toMatchObject({ code: 126 })
  expect(bench.runs).toMatchObject([{ refused: 'the host could not decide: journal is gone' }])
  expect(existsSync(join(bench.workspaceDir, 'ran'))).toBe(false)
})

test('holds a command back until it is decided upon', async () => {
  let decide: (verdict: CommandVerdict) => void = () => undefined
  bench.verdict = () => new Promise((done) => { decide = done })
  const answer = order(agent, { text: 'touch /workspace/ran; echo ran' })
  await until(() => bench.asks.length === 1)
  expect(existsSync(join(bench.workspaceDir, 'ran'))).toBe(false)
  decide({ verdict: 'run' })
  expect(await answer).toMatchObject({ code: 0, out: 'ran\n' })
})

test('a held command whose caller is gone is withdrawn and never runs', async () => {
  let withdrawn = false
  bench.verdict = (_ask, signal) => new Promise((done) => { signal.addEventListener('abort', () => { withdrawn = true; done({ verdict: 'run' }) }) })
  const answer = order(agent, { text: 'touch /workspace/ran' })
  await until(() => bench.asks.length === 1)
  await order(agent, { kill: 'SIGKILL' })
  expect(await answer).toMatchObject({ signal: 'SIGKILL' })
  await until(() => bench.runs.length === 1)
  expect(withdrawn).toBe(true)
  expect(bench.runs).toMatchObject([{ exitCode: null, refused: expect.stringContaining('stopped before it began') as string }])
  expect(existsSync(join(bench.workspaceDir, 'ran'))).toBe(false)
})

test.each(['SIGTERM', 'SIGKILL'])('%s of the caller ends the command with every daemon of it', async (signal) => {
  const text = '(trap "" TERM; setsid nohup sh -c "while :; do echo beat >> /workspace/beats; sleep 0.01; done" >/dev/null 2>&1 &); echo started > /workspace/flag; trap "" TERM; sleep 987652'
  const answer = order(agent, { text })
  await until(() => readdirSync(bench.workspaceDir).includes('beats'))
  await order(agent, { kill: signal })
  expect(await answer).toMatchObject({ signal })
  await until(() => bench.runs.length === 1)
  expect(bench.runs).toMatchObject([{ exitCode: null, limitHit: 'was stopped before it ended' }])
  // The record comes after the proof that the command's namespace is empty: the heart has stopped.
  const beats = readFileSync(join(bench.workspaceDir, 'beats')).length
  await order(agent, { text: 'for i in {1..2000}; do :; done' })
  expect(readFileSync(join(bench.workspaceDir, 'beats')).length).toBe(beats)
})

test('a stop of the agent ends its commands first', async () => {
  const answer: Promise<Answer | Error> = order(agent, { text: 'setsid sleep 987650 & echo started > /workspace/flag; sleep 987650' }).catch((error: unknown) => error as Error)
  await until(() => readdirSync(bench.workspaceDir).includes('flag'))
  await agent.stop()
  expect(bench.runs).toMatchObject([{ exitCode: null, limitHit: 'was stopped before it ended' }])
  // Whichever end goes first: the shell client without its host, or the agent with its client.
  const got = await answer
  expect(got instanceof Error || got.code === 125).toBe(true)
})

test('carries 3 MB to the agent intact and in order', async () => {
  const { code, out } = await order(agent, { text: 'seq 450000' })
  const whole = Array.from({ length: 450_000 }, (_value, index) => `${String(index + 1)}\n`).join('')
  expect(whole.length).toBeGreaterThan(2_900_000)
  expect([code, out.length, out === whole]).toEqual([0, whole.length, true])
  expect(bench.runs[0]?.logDigest).toBe(`sha256:${createHash('sha256').update(whole).digest('hex')}`)
})

test('a command sees neither the agent nor its secrets, proxy or sockets', async () => {
  const answer = await order(agent, { text: 'env; ls -A ~ /run/app /run/ctl 2>/dev/null; ls /opt; for p in 7000 4096; do (exec 3<>/dev/tcp/127.0.0.1/$p) 2>/dev/null && echo reached $p; done; ls /proc | grep "^[0-9]" | wc -l' })
  expect(answer.out).not.toMatch(/reached|sock|agent\.js|BUN_BE_BUN/)
  expect(answer.out).toMatch(/\/home\/agent/)
})

test.each<readonly [string, { readonly argv?: readonly string[]; readonly text?: string; readonly cwd?: string }, RegExp]>([
  ['a shell that is called otherwise', { argv: ['-l', '-c', 'touch /workspace/ran'] }, /only “-c text” is understood/],
  ['a script file', { argv: ['/workspace/x.sh'] }, /only “-c text” is understood/],
  ['a directory outside of the workspace', { text: 'touch /workspace/ran', cwd: '/home/agent' }, /outside the workspace/],
  ['too long a text', { text: `touch /workspace/ran #${'x'.repeat(66_000)}` }, /longer than 65536 bytes/],
])('refuses %s without asking', async (_what, what, reason) => {
  expect(await order(agent, what)).toMatchObject({ code: 126, out: expect.stringMatching(reason) as string })
  expect(bench.asks).toEqual([])
  expect(bench.runs).toMatchObject([{ exitCode: null, refused: expect.stringMatching(reason) as string }])
  expect(existsSync(join(bench.workspaceDir, 'ran'))).toBe(false)
})

test('shows the directory that a link leads to, not the link', async () => {
  mkdirSync(join(bench.workspaceDir, 'real'))
  symlinkSync('real', join(bench.workspaceDir, 'link'))
  expect(await order(agent, { text: 'pwd', cwd: '/workspace/link' })).toMatchObject({ code: 0, out: '/workspace/real\n' })
  expect(bench.asks).toMatchObject([{ cwd: '/workspace/real' }])
})

test('runs nothing in a directory that became a link while the host decided', async () => {
  for (const folder of ['asked', 'other']) mkdirSync(join(bench.workspaceDir, folder))
  bench.verdict = () => {
    renameSync(join(bench.workspaceDir, 'asked'), join(bench.workspaceDir, 'asked.was'))
    symlinkSync('other', join(bench.workspaceDir, 'asked'))
    return Promise.resolve({ verdict: 'run' })
  }
  expect(await order(agent, { text: 'touch ran', cwd: '/workspace/asked' })).toMatchObject({ code: 126 })
  expect(bench.runs).toMatchObject([{ exitCode: null, refused: expect.any(String) as string }])
  expect(existsSync(join(bench.workspaceDir, 'other/ran'))).toBe(false)
})

const speak = (line: string): string => `
  const socket = require('net').connect('/run/app/broker.sock')
  socket.write(${JSON.stringify(line)})
  const parts = []; socket.on('data', (d) => parts.push(d))
  return new Promise((done) => { socket.on('close', () => done(Buffer.concat(parts).toString('latin1'))); socket.on('error', () => done('')) })`

test.each([
  ['no JSON', 'rm -rf /\n'],
  ['another version', '{"version":2,"argv":["-c","touch /workspace/ran"],"cwd":"/workspace"}\n'],
  ['fields that it does not know', '{"version":1,"argv":["-c","touch /workspace/ran"],"cwd":"/workspace","askId":"ask_9"}\n'],
  ['a wrong type', '{"version":1,"argv":"-c","cwd":"/workspace"}\n'],
])('whoever speaks to the broker with %s is refused', async (_what, line) => {
  expect((await order(agent, { eval: speak(line) })).value).toContain('bad request')
  expect([bench.asks, bench.runs]).toEqual([[], []])
})

test.each([
  ['a link as directory', '/workspace/link'], ['a way around', '/workspace/../usr'], ['a NUL', '/workspace/a\0b'], ['a missing directory', '/workspace/missing'],
])('whoever forges %s is refused', async (_what, cwd) => {
  symlinkSync('/usr', join(bench.workspaceDir, 'link'))
  const line = `${JSON.stringify({ version: 1, argv: ['-c', 'touch /workspace/ran'], cwd })}\n`
  expect((await order(agent, { eval: speak(line) })).value).toContain('refused')
  expect(bench.asks).toEqual([])
})

test('runs several commands at once without mixing them up, and says so when there are too many', async () => {
  let let_go: () => void = () => undefined
  const gate = new Promise<void>((done) => { let_go = done })
  bench.verdict = async () => { await gate; return { verdict: 'run' } }
  const answers = Array.from({ length: 9 }, (_value, n) => order(agent, { text: `for i in {1..20}; do echo ${String(n)}; done` }))
  await until(() => bench.asks.length === 8 && bench.runs.length === 1)
  let_go()
  const all = await Promise.all(answers)
  expect(all.filter((answer) => answer.code === 126)).toMatchObject([{ out: 'sandbox: refused: more than 8 commands at once\n' }])
  all.forEach((answer, n) => { if (answer.code !== 126) expect(answer.out).toBe(`${String(n)}\n`.repeat(20)) })
})

test('where the workspace has no other name, tells its folders as the room names them', async () => {
  mkdirSync(join(bench.workspaceDir, 'sub'))
  const socketPath = join(bench.dir, 'own.sock')
  const broker = await openBroker({
    socketPath, workspaceDir: bench.workspaceDir, workspaceInside: bench.workspaceDir, mountedFolders: [], ids: { next: (prefix) => `${prefix}_1` },
    decide: (ask) => { bench.asks.push(ask); return Promise.resolve({ verdict: 'refuse', reason: 'seen' }) }, onEnded: (run) => { bench.runs.push(run) }, run: () => Promise.reject(new Error('nothing is to run')),
  })
  for (const cwd of [join(bench.workspaceDir, 'sub'), '/workspace/sub', bench.dir]) {
    const client = connect(socketPath)
    client.write(`${JSON.stringify({ version: 1, argv: ['-c', 'true'], cwd })}\n`)
    await once(client.resume(), 'end')
  }
  expect(bench.asks.map(({ cwd }) => cwd)).toEqual(['/workspace/sub'])
  expect(bench.runs.map(({ cwd, refused }) => [cwd, refused])).toEqual([['/workspace/sub', 'seen'], ['/outside/workspace/sub', 'the working directory is outside the workspace'], [bench.dir, 'the working directory is outside the workspace']])
  await broker.close()
})

test('records a fault of the machine that a command met, and that nobody knows what the command did', async () => {
  const socketPath = join(bench.dir, 'broken.sock')
  const broker = await openBroker({
    socketPath, workspaceDir: bench.workspaceDir, workspaceInside: '/workspace', mountedFolders: [], ids: { next: (prefix) => `${prefix}_1` },
    decide: () => Promise.resolve({ verdict: 'run' }), onEnded: (run) => { bench.runs.push(run) }, run: () => Promise.reject(new Error('ENOSPC: no space left on device')),
  })
  const client = connect(socketPath)
  client.write(`${JSON.stringify({ version: 1, argv: ['-c', 'true'], cwd: '/workspace' })}\n`)
  let told = ''
  client.setEncoding('latin1').on('data', (text: string) => { told += text })
  await once(client, 'end')
  expect(told).toContain('sandbox: ENOSPC: no space left on device')
  expect(told.charCodeAt(told.length - 1)).toBe(125)
  expect(bench.runs).toMatchObject([{ askId: 'ask_1', text: 'true', exitCode: null, refused: null, limitHit: 'met a fault of this machine (ENOSPC: no space left on device); what it did is not known' }])
  await broker.close()
})
