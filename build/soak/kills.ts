// Started by `npm run soak` (build/soak/index.ts) where there is a screen and no network.
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { inspect, parseArgs } from 'node:util'
import { stubEntry } from '../../e2e/models.ts'
import { newOwnerFolder } from '../../e2e/owner-folder.ts'
import { makeProject } from '../../e2e/owners-project.ts'
import { expectNobodyLeft } from '../../e2e/processes.ts'
import { StubProvider } from '../../e2e/stubs/provider.ts'
import { does, type Step } from '../../e2e/stubs/step.ts'
import { failpointNames } from '../../src-main/engine/failpoints.ts'
import { closingLine } from '../checks/tally.ts'
import { seeded, type Random } from '../harness/random.ts'
import { openAccount, restlessRows, type Account } from '../simulator/account.ts'
import { inspectJournal, nothingAskedTwice } from './inspect.ts'
import { Life } from './life.ts'
import { SoakOwner } from './owner.ts'

const { values } = parseArgs({ options: { kills: { type: 'string', default: '20' }, seed: { type: 'string', default: '1' } } })
const killsWanted = Number.parseInt(values.kills, 10)
const seed = Number.parseInt(values.seed, 10)

/** One installation takes so many kills; then all its tasks must come to their end. */
const killsAProfile = 20
/** A life that meets no failpoint is killed at a random moment: one in five before its window may be there, the others at work. */
const startMsMax = 3_000
const workMsMax = 7_000
const lookEveryMs = 150
const endWithinMs = 180_000

const sum = { kills: 0, failed: 0, atFailpoints: new Map<string, number>(), byTime: 0, beforeWindow: 0, turns: 0, uncertain: 0, ends: new Map<string, number>(), events: 0 }

interface Profile { readonly random: Random; readonly ownerFolder: string; readonly provider: StubProvider; readonly owner: SoakOwner; readonly account: Account; readonly scratch: string }

/** What the scripted model has Bot B do next: long writes, commands with and without a grant, questions, an end. */
function nextStep(random: Random, names: () => number): Step {
  const name = names()
  const dice = random.below(20)
  if (dice < 8) return does.write(`/workspace/poem-${String(name)}.txt`, `line ${String(name)}\n`.repeat(20 + random.below(200)), { paceMs: random.below(12), thinksMs: random.below(300) })
  if (dice < 11) return does.bash('true', 'Run the tests')
  if (dice < 13) return does.bash(`ls -la && sleep 0.${String(random.below(9))} && echo ${String(name)}`, 'Look around')
  if (dice < 14) return does.read('/workspace/README.md')
  if (dice < 16) return does.question(`Which one, ${String(name)}?`, ['the first', 'the second'])
  return does.say(`Finished ${String(name)}.`)
}

/** One life up to its kill. */
async function liveAndDie(profile: Profile): Promise<void> {
  const { random, owner } = profile
  const failpoint = random.chance(0.5) ? `${random.pick(failpointNames)}@${String(1 + random.below(3))}` : null
  const life = new Life({ ownerFolder: profile.ownerFolder, providers: [stubEntry(profile.provider)], failpoint })
  const early = random.chance(0.2)
  const inTimeMs = random.below(early ? startMsMax : workMsMax)
  const killed = { inTime: false }
  const killLater = async (): Promise<void> => {
    const dying = new AbortController()
    void life.ended.then(() => { dying.abort() })
    await pause(inTimeMs, null, { signal: dying.signal }).then(() => { killed.inTime = true; life.kill('SIGKILL') }, () => undefined)
  }
  const killing = early ? killLater() : null
  if (await life.open()) {
    const later = killing ?? killLater()
    const first = await owner.rows(life)
    // Nothing of a life before runs or spins in this one.
    if (first !== null) assert.deepEqual(restlessRows(first), [])
    while (!life.isOver && await owner.look(life) !== null) await pause(lookEveryMs)
    await later
  } else sum.beforeWindow += 1
  const how = await life.ended
  await killing
  await life.forget()
  const name = failpoint?.split('@')[0]
  if (killed.inTime) sum.byTime += 1
  else if (name !== undefined) sum.atFailpoints.set(name, (sum.atFailpoints.get(name) ?? 0) + 1)
  assert.equal(how, 'SIGKILL', `the app ended by itself:\n${life.output}`)
}

async function killOnce(profile: Profile): Promise<void> {
  await liveAndDie(profile)
  await expectNobodyLeft(profile.ownerFolder)
  note(await inspectJournal(join(profile.ownerFolder, 'user-data'), profile.scratch, profile.account))
  nothingAskedTwice(profile.provider.of('coder'))
}

function note(fresh: Awaited<ReturnType<typeof inspectJournal>>): void {
  for (const { type } of fresh ?? []) {
    sum.events += 1
    if (type === 'turn-submitted') sum.turns += 1
    if (type === 'recovery-needed') sum.uncertain += 1
    if (type === 'accepted' || type === 'task-cancelled' || type === 'task-failed' || type === 'rejected') sum.ends.set(type, (sum.ends.get(type) ?? 0) + 1)
  }
}

/** Nobody kills any more: every task comes to its end, every row settles, and the app quits in order. */
async function comeToAnEnd(profile: Profile): Promise<void> {
  const { owner, ownerFolder, provider } = profile
  owner.ending = true
  provider.otherwise(() => does.say('Finished.'))
  const life = new Life({ ownerFolder, providers: [stubEntry(provider)], failpoint: null })
  assert.ok(await life.open(), `the app does not start any more:\n${life.output}`)
  const until = performance.now() + endWithinMs
  for (let open = 1; open > 0;) {
    const seen = await owner.look(life)
    assert.ok(seen !== null, `the app ended by itself:\n${life.output}`)
    open = seen.open
    assert.ok(performance.now() < until, `${String(open)} tasks did not come to their end`)
    await pause(lookEveryMs)
  }
  assert.deepEqual(restlessRows(await owner.rows(life) ?? []), [])
  life.kill('SIGTERM')
  assert.equal(await life.ended, '0', life.output)
  await life.forget()
  await expectNobodyLeft(ownerFolder)
  note(await inspectJournal(join(ownerFolder, 'user-data'), profile.scratch, profile.account))
  nothingAskedTwice(provider.of('coder'))
}

async function soakProfile(random: Random, kills: number): Promise<void> {
  const ownerFolder = newOwnerFolder()
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-soak-'))
  const provider = await StubProvider.start()
  let name = 0
  provider.otherwise(() => nextStep(random, () => { name += 1; return name }))
  const profile: Profile = { random, ownerFolder, provider, owner: new SoakOwner(random, makeProject(ownerFolder, { 'README.md': '# Poems\n' })), account: openAccount(), scratch }
  try {
    for (let kill = 0; kill < kills; kill += 1) { await killOnce(profile); sum.kills += 1 }
    await comeToAnEnd(profile)
  } catch (error) {
    console.error(`what it left is kept in ${leaveEvidence(profile)}`)
    throw error
  } finally {
    await provider.close()
    for (const folder of [scratch, ownerFolder]) rmSync(folder, { recursive: true, force: true })
  }
}

/** Keeps what a failed installation left, to be read: its journal, its log, and what the provider saw. Gives the folder. */
function leaveEvidence({ ownerFolder, provider }: Profile): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-soak-failed-'))
  for (const part of ['journal', 'logs']) if (existsSync(join(ownerFolder, 'user-data', part))) cpSync(join(ownerFolder, 'user-data', part), join(folder, part), { recursive: true })
  writeFileSync(join(folder, 'asked.json'), JSON.stringify(provider.of('coder'), null, 1))
  return folder
}

const begun = performance.now()
const random = seeded(seed)
let profiles = 0
while (sum.kills + sum.failed < killsWanted) {
  profiles += 1
  try {
    await soakProfile(random, Math.min(killsAProfile, killsWanted - sum.kills - sum.failed))
  } catch (error) {
    sum.failed += 1
    console.error(inspect(error))
  }
}
const inWords = (counted: ReadonlyMap<string, number>): string => [...counted].sort().map(([what, times]) => `${what} ${String(times)}`).join(', ')
console.log(`seed ${String(seed)}: ${String(sum.kills)} kills of ${String(profiles)} installations in ${((performance.now() - begun) / 1_000).toFixed(0)} s: ${String(sum.byTime)} at random moments, ${String([...sum.atFailpoints.values()].reduce((total, times) => total + times, 0))} at ${String(sum.atFailpoints.size)} failpoints, ${String(sum.beforeWindow)} before the window; ${String(sum.events)} events, ${String(sum.turns)} turns, ${String(sum.uncertain)} times uncertain; ${inWords(sum.ends)}`)
console.log(`failpoints: ${inWords(sum.atFailpoints)}`)
// A soak without turns, or without anything uncertain, has killed nothing at work.
const idle = killsWanted >= 20 && (sum.turns === 0 || sum.uncertain === 0) ? 1 : 0
if (idle > 0) console.log('no turn was at work when the app was killed')
console.log(closingLine({ passed: sum.kills, failed: sum.failed + idle, skipped: 0 }))
process.exitCode = sum.failed + idle > 0 || sum.kills === 0 ? 1 : 0
