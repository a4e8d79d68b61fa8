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
import { closingLine } from '../checks/tally.ts'
import { seeded, type Random } from '../harness/random.ts'
import { openAccount, restlessRows, type Account } from '../simulator/account.ts'
import { inspectJournal, nothingAskedTwice } from './inspect.ts'
import { Life } from './life.ts'
import { momentsIn, type Moment } from './moments.ts'
import { SoakOwner, soakTestCommand } from './owner.ts'
import { Plans, type Plan } from './plan.ts'
import { SoakReport } from './report.ts'

const { values } = parseArgs({ options: { kills: { type: 'string', default: '20' }, seed: { type: 'string', default: '1' } } })
const killsWanted = Number.parseInt(values.kills, 10)
const seed = Number.parseInt(values.seed, 10)

/** One installation takes so many kills; then all its tasks must come to their end. */
const killsAProfile = 20
/** A life that meets nothing of what it waits for is killed so long after Bot B has begun, or after its start where that takes longer. */
const workMsMax = 12_000
const lifeMsMax = 60_000
const lookEveryMs = 60
const endWithinMs = 180_000

const report = new SoakReport()

interface Profile { readonly plans: Plans; readonly ownerFolder: string; readonly provider: StubProvider; readonly owner: SoakOwner; readonly account: Account; readonly scratch: string }

/** What the scripted model has Bot B do next: long writes, commands with and without a grant, questions, an end. */
function nextStep(random: Random, names: () => number): Step {
  const name = names()
  const dice = random.below(20)
  if (dice < 7) return does.write(`/workspace/poem-${String(name)}.txt`, `line ${String(name)}\n`.repeat(20 + random.below(200)), { paceMs: random.below(12), thinksMs: random.below(300) })
  if (dice < 10) return does.bash(soakTestCommand, 'Run the tests')
  if (dice < 14) return does.bash(`ls -la && (setsid sleep 300 &) && sleep 0.${String(random.below(9))} && echo ${String(name)}`, 'Look around')
  if (dice < 15) return does.read('/workspace/README.md')
  if (dice < 17) return does.question(`Which one, ${String(name)}?`, ['the first', 'the second'])
  return does.say(`Finished ${String(name)}.`)
}

/** Ends a life as its plan says, and after its longest time in any case. */
class Executioner {
  readonly #life: Life
  readonly #plan: Plan
  #done: Promise<void> = Promise.resolve()
  #atWork = false
  /** What the kill came of; null where the life ended at its failpoint. */
  cause: Moment | 'early' | 'late' | null = null

  constructor(life: Life, plan: Plan) {
    this.#life = life
    this.#plan = plan
    if (plan.is === 'early') this.#killIn(plan.inMs, 'early')
  }

  /** The app shows itself. */
  opened(): void {
    this.#killBy(lifeMsMax)
  }

  /** Bot B has begun somewhere. */
  atWork(begun: boolean): void {
    if (begun && !this.#atWork) this.#killBy(workMsMax)
    this.#atWork ||= begun
  }

  seen(moments: readonly Moment[]): void {
    const plan = this.#plan
    const moment = plan.is === 'moment' && this.cause === null ? moments.find((one) => plan.any.includes(one)) : undefined
    if (plan.is === 'moment' && moment !== undefined) this.#killIn(plan.afterMs, moment)
  }

  async over(): Promise<void> {
    await this.#done
  }

  #killBy(ms: number): void {
    void this.#in(ms, () => { if (this.cause === null) this.#killIn(0, 'late') })
  }

  #killIn(ms: number, cause: Moment | 'early' | 'late'): void {
    this.cause = cause
    this.#done = this.#in(ms, () => { this.#life.kill('SIGKILL') })
  }

  async #in(ms: number, act: () => void): Promise<void> {
    const dying = new AbortController()
    void this.#life.ended.then(() => { dying.abort() })
    try {
      await pause(ms, null, { signal: dying.signal })
    } catch {
      return // It has ended before.
    }
    act()
  }
}

/** One life up to its kill. */
async function liveAndDie(profile: Profile): Promise<void> {
  const { plans, owner } = profile
  const plan = plans.next()
  const life = new Life({ ownerFolder: profile.ownerFolder, providers: [stubEntry(profile.provider)], failpoint: plan.is === 'failpoint' ? plan.at : null })
  const executioner = new Executioner(life, plan)
  owner.stopping = plan.is === 'moment' && plan.any.includes('stop requested')
  owner.acts = (act) => { executioner.seen([act]) }
  if (await life.open()) {
    executioner.opened()
    const first = await owner.rows(life)
    // Nothing of a life before runs or spins in this one.
    if (first !== null) assert.deepEqual(restlessRows(first), [])
    while (!life.isOver) {
      const seen = await owner.look(life)
      if (seen === null) break
      executioner.atWork(seen.rows.some((row) => row.kind === 'task' && row.status !== 'open' && row.status !== 'claimed'))
      executioner.seen(momentsIn(seen.rows))
      await owner.act(life, seen)
      await pause(lookEveryMs)
    }
  } else report.beforeWindow += 1
  const how = await life.ended
  await Promise.all([executioner.over(), owner.done()])
  await life.forget()
  note(profile, plan, executioner.cause)
  assert.equal(how, 'SIGKILL', `the app ended by itself:\n${life.output}`)
}

function note({ plans }: Profile, plan: Plan, cause: Executioner['cause']): void {
  if (cause === 'early') report.early += 1
  else if (cause === 'late') report.late += 1
  else if (cause !== null) { plans.met(cause); report.atMoment(cause) }
  else if (plan.is === 'failpoint') report.atFailpoint(plan.at.split('@')[0] ?? '')
}

async function killOnce(profile: Profile): Promise<void> {
  await liveAndDie(profile)
  await expectNobodyLeft(profile.ownerFolder)
  report.note(await inspectJournal(join(profile.ownerFolder, 'user-data'), profile.scratch, profile.account))
  report.found(profile.account.states())
  nothingAskedTwice(profile.provider.of('coder'))
}

/** Nobody kills any more: every task comes to its end, every row settles, and the app quits in order. */
async function comeToAnEnd(profile: Profile): Promise<void> {
  const { owner, ownerFolder, provider } = profile
  owner.ending = true
  owner.acts = () => undefined
  provider.otherwise(() => does.say('Finished.'))
  const life = new Life({ ownerFolder, providers: [stubEntry(provider)], failpoint: null })
  assert.ok(await life.open(), `the app does not start any more:\n${life.output}`)
  const until = performance.now() + endWithinMs
  for (let open = 1; open > 0;) {
    const seen = await owner.look(life)
    assert.ok(seen !== null, `the app ended by itself:\n${life.output}`)
    open = seen.open
    assert.ok(performance.now() < until, `${String(open)} tasks did not come to their end`)
    await owner.act(life, seen)
    await pause(lookEveryMs)
  }
  assert.deepEqual(restlessRows(await owner.rows(life) ?? []), [])
  life.kill('SIGTERM')
  assert.equal(await life.ended, '0', life.output)
  await owner.done()
  await life.forget()
  await expectNobodyLeft(ownerFolder)
  report.note(await inspectJournal(join(ownerFolder, 'user-data'), profile.scratch, profile.account))
  nothingAskedTwice(provider.of('coder'))
}

/** Plan, model and owner draw from numbers of their own: how often one is asked moves nothing of the others. */
async function soakProfile(number: number, kills: number): Promise<void> {
  const ownerFolder = newOwnerFolder()
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-soak-'))
  const provider = await StubProvider.start()
  const random = (part: number): Random => seeded(seed * 1_000_003 + number * 101 + part)
  const script = random(1)
  let name = 0
  provider.otherwise(() => nextStep(script, () => { name += 1; return name }))
  provider.lead({ brief: JSON.stringify({ goal: 'Do what the script says.', scope: '', criteria: [], testCommand: soakTestCommand, excerptIds: [] }) })
  const profile: Profile = { plans: new Plans(random(2), kills), ownerFolder, provider, owner: new SoakOwner(random(3), makeProject(ownerFolder, { 'README.md': '# Poems\n' })), account: openAccount(), scratch }
  try {
    for (let kill = 0; kill < kills; kill += 1) { await killOnce(profile); report.kills += 1 }
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
let profiles = 0
while (report.kills + report.failed < killsWanted) {
  profiles += 1
  try {
    await soakProfile(profiles, Math.min(killsAProfile, killsWanted - report.kills - report.failed))
  } catch (error) {
    report.failed += 1
    console.error(inspect(error))
  }
}
for (const line of report.lines(seed, profiles, (performance.now() - begun) / 1_000)) console.log(line)
const { unreached } = report
if (unreached.length > 0) console.log(`no kill came during: ${unreached.join(', ')}`)
const failed = report.failed + (unreached.length > 0 ? 1 : 0)
console.log(closingLine({ passed: report.kills, failed, skipped: 0 }))
process.exitCode = failed > 0 || report.kills === 0 ? 1 : 0
