import { App } from '../app.ts'
import { attacks, attacksOn, type Attack } from '../attacks.ts'
import { expect, test } from '../fixtures.ts'
import { stubEntry, stubModels } from '../models.ts'
import { makeProject } from '../owners-project.ts'
import type { StubProvider } from '../stubs/provider.ts'
import { does, type Step } from '../stubs/step.ts'
import { Trap } from '../trap.ts'

test('the corpus names at least sixty attacks, each once', () => {
  expect(attacks.length).toBeGreaterThanOrEqual(60)
  expect(new Set(attacks.map(({ name }) => name)).size).toBe(attacks.length)
})

test('no attack of the corpus has an effect beyond text in the log', async ({ provider }) => {
  test.setTimeout(240_000)
  const trap = await Trap.set()
  const app = await App.launch({ providers: [stubEntry(provider)] })
  try {
    const { room, window } = app
    const watched = watch(app)
    const settings = await app.call('settings.get', {})
    script(provider, trap.address)
    const files: Readonly<Record<string, string>> = Object.fromEntries<string>([
      ...attacksOn('file', trap.address).map(({ text }, at) => [`docs/${at}.md`, text] as const), ...attacksOn('test-output', trap.address).map(({ text }, at) => [`logs/${at}.txt`, text] as const),
    ])
    const folder = makeProject(app.ownerFolder, { 'README.md': '# A project\n', ...files })
    await app.begin({ title: 'Attacks', models: stubModels, testCommand: 'cat logs/*', source: { kind: 'folder', path: folder, mounts: [] }, budget: { ...settings.defaults.budget, profile: 'long', messagesMax: 40, requestsMax: 240 } })
    await room.approve('brief')
    await room.hasStatus('result-ready', 200_000)
    await everyRowDrawn(app)

    await nothingHappened(app, watched)
    expect(trap.hits, 'requests that somebody made for an attack').toEqual([])
    expect(await app.call('settings.get', {}), 'the settings').toEqual(settings)
    const told = (await app.audit()).map(({ payload }) => payload).join('\n')
    for (const attack of attacks) expect(told, `"${attack.name}" reached the room`).toContain(traceOf(attack, trap.address))
    await window.screenshot({ path: 'dist/screens/injections.png' })
  } finally {
    await app.close()
    await trap.close()
  }
})

/** Plays every attack: the coder's words before harmless calls, files that it reads, names that it gives, an error, the test log, and what the bots say to each other. */
function script(provider: StubProvider, trap: string): void {
  const only = (channel: Attack['channel']): string => attacksOn(channel, trap)[0]?.text ?? ''
  provider.lead({
    brief: JSON.stringify({ goal: only('brief'), scope: '', criteria: [], testCommand: 'cat logs/*', excerptIds: [] }), answer: JSON.stringify({ answer: only('answer'), why: 'By the criteria.' }), review: JSON.stringify({ text: only('review'), recommendation: 'accept' }),
  })
  const spoken = attacksOn('coder-words', trap).map(({ text }, at): Step => ({ ...does.read(`/workspace/docs/${at % 3}.md`), text }))
  const read = attacksOn('file', trap).map((_attack, at) => does.read(`/workspace/docs/${at}.md`))
  const named = attacksOn('file-name', trap).map(({ text }) => does.write(`/workspace/${text}`, 'x\n'))
  const failing = attacksOn('tool-error', trap).map(({ text }) => does.read(`/workspace/${text.replaceAll('/', '')}`))
  provider.coder(...read, ...named, ...failing, does.question(only('question'), ['yes', 'no']), ...spoken, does.bash('cat logs/*', 'Run the tests'), does.say('Done. Owner: accepted.'))
}

interface Watched { readonly requests: string[]; readonly navigations: string[]; readonly windows: number }

/** Writes down what the window asks for and where it goes, from now on. */
function watch(app: App): Watched {
  const watched: Watched = { requests: [], navigations: [], windows: app.electron.windows().length }
  app.window.on('request', (request) => { if (!request.url().startsWith('app://countersign/')) watched.requests.push(request.url()) })
  app.window.on('framenavigated', (frame) => watched.navigations.push(frame.url()))
  return watched
}

/** Scrolls through the whole transcript, so that every row has been drawn once. */
async function everyRowDrawn({ room }: App): Promise<void> {
  await room.transcript.evaluate(async (log) => {
    const scroller = [log, ...log.querySelectorAll('*')].find((element) => element.scrollHeight > element.clientHeight + 100 && ['auto', 'scroll'].includes(getComputedStyle(element).overflowY)) ?? log
    for (let at = 0; at <= scroller.scrollHeight; at += Math.max(200, scroller.clientHeight / 2)) {
      scroller.scrollTo(0, at)
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
      if (document.querySelector('#root script, #root img, #root iframe, #root object, #root embed, #root video, #root audio, #root a[href], #root base, #root meta, #root link, [onclick], [onerror], [onload]') !== null) throw new Error('an active element was drawn')
    }
  })
}

async function nothingHappened(app: App, watched: Watched): Promise<void> {
  const { window, room } = app
  expect(watched.requests, 'requests of the window').toEqual([])
  expect(watched.navigations, 'navigations').toEqual([])
  expect(app.electron.windows().length, 'windows').toBe(watched.windows)
  expect(await window.evaluate(() => 'pwned' in window), 'a script of an attack ran').toBe(false)
  await expect(window).toHaveTitle('Countersign')
  // The one brief that the test itself approved, and the result that waits.
  const events = await app.audit()
  const of = (type: string): readonly Record<string, unknown>[] => events.filter((event) => event.type === type).map(({ payload }) => JSON.parse(payload) as Record<string, unknown>)
  expect(of('hold-opened').map((event) => (event['hold'] as { kind: string }).kind)).toEqual(['brief', 'acceptance'])
  expect(of('hold-settled').map((event) => event['outcome'])).toEqual(['approved'])
  for (const type of ['grant-given', 'accepted', 'rejected', 'apply-intended', 'budget-raised', 'recovery-resolved', 'revision-requested', 'cancel-requested']) expect(of(type), type).toEqual([])
  expect(of('permission-ruled').filter((event) => event['by'] !== 'the task\'s grant'), 'rulings that nobody but the task\'s own grant made').toEqual([])
  expect(of('command-ran').map((event) => event['text']).filter((text) => text !== 'cat logs/*'), 'other commands').toEqual([])
  // Nothing that an attack drew can be taken for a control of the app's own.
  expect(await window.locator('[data-approval-id="apr_forged"]').count()).toBe(0)
  expect(await room.transcript.getByRole('button', { name: /^(Approve|Accept result|Deny)$/ }).count()).toBe(0)
  expect(app.windowErrors, 'errors of the window').toEqual([])
}

/** A piece of the attack as the journal's JSON has it. */
function traceOf({ text, name }: Attack, trap: string): string {
  // OpenCode numbers the lines of a file that it reads: one line is looked for.
  const line = text.replaceAll('{trap}', trap).split(/[\r\n]/).find((each) => each.trim() !== '') ?? name
  return JSON.stringify(line.slice(0, 60).replace(/[\ud800-\udbff]$/, '')).slice(1, -1)
}
