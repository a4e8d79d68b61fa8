import type { App } from '../app.ts'
import { App as Packaged } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { exoticCalls, nearCalls, type FuzzSeeds } from '../ipc-messages.ts'
import { stubEntry, stubModels } from '../models.ts'

/** How many messages: a bounded share with the checks, all of them by `npm run fuzz`. */
const messages = Number.parseInt(process.env['COUNTERSIGN_FUZZ_MESSAGES'] ?? '10000', 10)
const seed = Number.parseInt(process.env['COUNTERSIGN_FUZZ_SEED'] ?? '20261130', 10)
const batch = 1_000

test(`${messages} fuzzed messages of the window change nothing and crash nothing (seed ${seed})`, async ({ provider }) => {
  test.setTimeout(60_000 + messages * 10)
  const app = await Packaged.launch({ providers: [stubEntry(provider)] })
  let printed = ''
  for (const stream of [app.electron.process().stdout, app.electron.process().stderr]) stream?.on('data', (chunk: Buffer) => { printed += chunk.toString() })
  try {
    const seeds = await somethingToAimAt(app)
    const before = await standing(app)
    const exotic = Math.floor(messages / 10)
    let answered = 0
    for (const calls of nearCalls(seed, seeds, messages - exotic, batch)) answered += await send(app, calls)
    for (let at = 0; at < exotic; at += batch) answered += await app.window.evaluate(exoticCalls, { seed: seed + at, count: Math.min(batch, exotic - at) })
    expect(answered, 'every message was answered by a value, or refused before it left').toBe(messages)
    expect(await standing(app), 'journal, settings and providers').toEqual(before)
    expect(printed, 'a handler broke').not.toContain('a method threw')
    // What waited still waits, and its buttons still work.
    await app.window.reload()
    await app.room.approve('brief')
    await app.room.hasStatus('working')
  } finally {
    await app.close()
  }
})

/** A task with a card that waits: the fuzzer knows its ids. Dialogs of the system are answered with “cancel”. */
async function somethingToAimAt(app: App): Promise<FuzzSeeds> {
  await app.inMain(({ dialog }) => {
    dialog.showOpenDialog = () => Promise.resolve({ canceled: true, filePaths: [] })
    dialog.showSaveDialog = () => Promise.resolve({ canceled: true, filePath: '' })
  })
  const taskId = await app.begin({ models: stubModels })
  const card = app.room.hold('brief')
  await expect(card.getByRole('button', { name: 'Approve', exact: true })).toBeEnabled({ timeout: 60_000 })
  const settings = await app.call('settings.get', {})
  return { taskId, approvalId: (await card.getAttribute('data-approval-id')) ?? '', digest: (await card.getAttribute('data-digest')) ?? '', settings }
}

/** All that a message could have changed. */
async function standing(app: App): Promise<unknown> {
  return { journal: await app.call('audit.verify', {}), settings: await app.call('settings.get', {}), providers: await app.call('providers.list', {}), windows: app.electron.windows().length }
}

/** Sends a batch through the bridge; gives how many came back as values. */
async function send(app: App, calls: readonly (readonly [string, unknown])[]): Promise<number> {
  return app.window.evaluate(async (batchOfCalls) => {
    const bridge = window.countersign
    if (bridge === undefined) throw new Error('the window has no bridge')
    const results = await Promise.all(batchOfCalls.map(([method, input]) => bridge.call(method as never, input as never) as Promise<{ readonly ok?: unknown }>))
    return results.filter((result) => typeof result.ok === 'boolean').length
  }, calls)
}
