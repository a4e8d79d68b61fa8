import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CommandRun } from '../../../src-main/engine/ports.ts'
import { openCoderBench, type CoderBench } from '../real-coder/coder-bench.ts'
import { processesWith } from '../real-coder/processes.ts'
import { prompt, type Step } from '../real-coder/scripted-provider.ts'
import { fileProbes } from './file-probes.ts'
import { layGround, type Ground } from './ground.ts'
import { networkProbes } from './network-probes.ts'
import type { Probe } from './probe.ts'
import { processProbes } from './process-probes.ts'

/*
 * Each probe is one call of the real OpenCode's bash tool: asked for, approved once, handed to the broker, run in a sandbox of its own. A probe that has a
 * control runs outside of any sandbox, too, where it must reach what it is after: so each can fail.
 */
const probes: readonly Probe[] = [...networkProbes, ...fileProbes, ...processProbes]
const atOnce = 4
const root = process.getuid?.() === 0
/** A loaded machine takes its time for some 150 commands. */
const wholeMs = 400_000

/** Daemons that a command leaves behind, in each way that is known. `word`: what their command line holds. */
const daemons = [
  ['nohup', 'nohup sleep 987101 >/dev/null 2>&1 & echo started', '987101'],
  ['setsid', 'setsid sleep 987102 >/dev/null 2>&1 & echo started', '987102'],
  ['a double fork', 'bash -c "(setsid sleep 987103 >/dev/null 2>&1 &) &" ; echo started', '987103'],
  ['a double fork with nohup and disown', 'bash -c "nohup setsid sleep 987104 </dev/null >/dev/null 2>&1 & disown"; echo started', '987104'],
  ['a daemon of perl', 'perl -e \'use POSIX; exit if fork; POSIX::setsid(); exit if fork; chdir "/"; close STDIN; close STDOUT; close STDERR; $SIG{HUP} = $SIG{TERM} = "IGNORE"; exec "sleep", "987105"\'; echo started', '987105'],
] as const

let ground: Ground
let bench: CoderBench
let runs: ReadonlyMap<string, CommandRun>
const udpWords = (on: Ground, word: string): string => `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:${String(on.udpPort)}", Proto => "udp") or die; $s->send("${word}")'; echo sent`

/** Runs every command by OpenCode's bash tool, some at a time, in one turn; each ask is answered with “once”. */
async function runAll(commands: readonly string[]): Promise<void> {
  const run = await bench.start({ onSignal: (signal) => {
    bench.signals.push(signal)
    if (signal.is === 'permission-asked') void run.answerPermission(signal.permissionId, { allow: true })
  } })
  const steps: Step[] = []
  for (let at = 0; at < commands.length; at += atOnce) steps.push({ tools: commands.slice(at, at + atOnce).map((command) => ({ name: 'bash', args: { command, description: 'A probe' } })) })
  const sessionId = await bench.session(run)
  await bench.submit(run, sessionId, prompt(...steps, { text: 'All tried.' }))
  await bench.turnOver()
}

beforeAll(async () => {
  ground = await layGround()
  process.env['PROBE_CANARY'] = ground.secret
  bench = await openCoderBench()
})
afterAll(async () => {
  delete process.env['PROBE_CANARY']
  await bench.close()
  await ground.close()
})

// The first test runs them all; the others look at what came of each.
test('each command is asked for, approved for its exact bytes, and run by the broker, once', { timeout: wholeMs }, async () => {
  const commands = [...probes.map((probe) => probe.command(ground)), ...daemons.map(([, command]) => command), udpWords(ground, 'from-inside')]
  expect(new Set(commands).size).toBe(commands.length)
  await runAll(commands)
  runs = new Map(bench.runs.map((run) => [run.text, run]))
  expect(bench.of('permission-asked').map(({ command }) => command).toSorted()).toEqual(commands.toSorted())
  expect(bench.asks.map(({ text }) => text).toSorted()).toEqual(commands.toSorted())
  expect(bench.of('tool-ended').map(({ outcome }) => outcome)).toEqual(commands.map(() => 'done'))
  expect(bench.of('permission-replied')).toEqual([])
  // As many as README and SECURITY say.
  expect(probes.length).toBeGreaterThan(100)
})

describe.each([['the network', networkProbes], ['files', fileProbes], ['processes and the kernel', processProbes]] as const)('a command and %s', (_what, some) => {
  test.each(some.map((probe) => [probe.name, probe] as const))('%s', (_name, probe) => {
    const ran = runs.get(probe.command(ground))
    expect(ran).toMatchObject({ exitCode: 0, refused: null, limitHit: null })
    expect(ran?.logTail.trim()).toBe(probe.expect)
  })
})

describe('outside of a sandbox the same words reach it', () => {
  const controlled = probes.filter((probe) => probe.control === 'anybody' || (probe.control === 'root' && root))

  test.each(controlled.map((probe) => [probe.name, probe] as const))('%s', (name, probe) => {
    const folder = `${ground.dir}/control`
    mkdirSync(folder, { recursive: true })
    const said = execFileSync('/bin/bash', ['-c', probe.command(ground)], { cwd: folder, encoding: 'utf8', env: { ...process.env, PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin' } }).trim()
    expect(`${name}: ${said}`).toBe(`${name}: reached`)
  })

  test('by UDP, which says nothing when it is not heard', async () => {
    expect(runs.get(udpWords(ground, 'from-inside'))?.logTail).toBe('sent\n')
    execFileSync('/bin/bash', ['-c', udpWords(ground, 'from-outside')])
    await expect.poll(() => ground.heardByUdp.length).toBeGreaterThan(0)
    expect(ground.heardByUdp).toEqual(['from-outside'])
  })
})

describe('a command leaves nobody behind', () => {
  test.each(daemons)('by %s', async (_how, command, word) => {
    expect(runs.get(command)).toMatchObject({ exitCode: 0, logTail: 'started\n' })
    expect(await processesWith(word)).toEqual([])
  })

  test('though the same words do outside', async () => {
    for (const [, command, word] of daemons) {
      execFileSync('/bin/bash', ['-c', command], { cwd: ground.dir })
      await expect.poll(() => processesWith(word)).toHaveLength(1)
      for (const pid of await processesWith(word)) process.kill(pid, 'SIGKILL')
    }
  })
})
