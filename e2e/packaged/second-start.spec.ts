import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { stubEntry, stubModels } from '../models.ts'
import { appExecutable, newOwnerFolder, ownerEnvironment } from '../owner-folder.ts'
import { makeProject } from '../owners-project.ts'
import { does } from '../stubs/step.ts'

let ownerFolder: string
test.beforeEach(() => { ownerFolder = newOwnerFolder() })
test.afterEach(() => { rmSync(ownerFolder, { recursive: true, force: true }) })
// Several starts a test, which a busy machine takes its time for.
test.setTimeout(240_000)

test('a link from outside brings the window to the front and shows its task, and can do nothing else', async ({ provider }) => {
  const app = await App.launch({ ownerFolder, providers: [stubEntry(provider)] })
  let older: string
  try {
    older = await app.begin({ title: 'The older task', models: stubModels })
    await expect(app.room.hold('brief')).toBeVisible({ timeout: 60_000 })
    await app.begin({ title: 'The newer task', models: stubModels })
    await app.window.getByRole('option', { name: /The newer task/ }).click()
    await expect.poll(async () => (await app.eventsOf('hold-opened')).length, { timeout: 60_000 }).toBe(2)
    const before = (await app.audit()).length
    await app.window.getByRole('button', { name: 'Settings', exact: true }).click()
    await app.inMain(({ BrowserWindow }) => {
      const fronts = { count: 0 }
      Object.assign(globalThis, { fronts })
      BrowserWindow.getAllWindows()[0]!.focus = () => { fronts.count += 1 }
    })
    const fronts = (): Promise<number> => app.inMain(() => (globalThis as unknown as { fronts: { count: number } }).fronts.count)

    for (const link of [`countersign://task/${older}?approve=1`, `countersign://task/${older}/approve`, 'countersign://settings', `COUNTERSIGN://task/${older}`]) await secondInstance(link)
    expect(await fronts(), 'a second start always shows the first').toBe(4)
    await expect(app.window.locator('main[data-screen="settings"]')).toBeVisible()
    await secondInstance(`countersign://task/${older}`)
    await expect(app.room.header).toHaveAttribute('data-task-id', older)
    await secondInstance('countersign://task/tsk_never')
    await expect(app.window.getByRole('status', { name: 'Messages' })).toContainText('The link names a task that is not here')
    await expect(app.room.header).toHaveAttribute('data-task-id', older)
    // Several in one moment: each is followed, so that one that names nothing takes no other's place.
    const notHere = app.window.getByRole('status', { name: 'Messages' }).getByText('The link names a task that is not here')
    await expect(notHere, 'the last one\'s message has gone').toHaveCount(0, { timeout: 30_000 })
    const newer = (await app.eventsOf('hold-opened')).map(({ taskId }) => taskId).find((taskId) => taskId !== older)!
    await app.inMain(({ app: main }, links) => { for (const link of links) main.emit('second-instance', {}, ['countersign', link], '/', undefined) }, [older, newer, 'tsk_nowhere'].map((id) => `countersign://task/${id}`))
    await expect(app.room.header).toHaveAttribute('data-task-id', newer)
    await expect(notHere).toHaveCount(1)
    // What is shown gets its shown-at receipt, as with a click on the task; nothing else was written.
    expect((await app.audit()).slice(before).map(({ type }) => type).filter((type) => type !== 'hold-shown')).toEqual([])
  } finally {
    await app.close()
  }
  // Where the app does not run, the link starts it; the window takes it when it has its rows.
  const started = await App.launch({ ownerFolder, arguments: [`countersign://task/${older}`] })
  try {
    await expect(started.room.header).toHaveAttribute('data-task-id', older)
  } finally {
    await started.close()
  }
})

test('a second start while a command waits changes nothing of it: one process of the app, one card, one answer', async ({ provider }) => {
  const command = 'echo second > second.txt'
  provider.coder(does.bash(command, 'Ask'), does.bash('true', 'Run the tests'), does.say('Done.'))
  const app = await App.launch({ ownerFolder, providers: [stubEntry(provider)] })
  try {
    const taskId = await app.begin({ title: 'The waiting task', models: stubModels, source: { kind: 'folder', path: makeProject(ownerFolder, { 'README.md': '# Poems\n' }), mounts: [] } })
    await app.room.approve('brief')
    const card = app.room.hold('command')
    await expect(card.getByRole('button', { name: 'Approve', exact: true })).toBeEnabled({ timeout: 90_000 })
    const id = await card.getAttribute('data-approval-id')
    const before = await app.audit()
    // With and without a link, also at once.
    await Promise.all([secondInstance(), secondInstance(`countersign://task/${taskId}`)])
    await secondInstance('countersign://task/tsk_never')
    await expect(app.window.getByRole('status', { name: 'Messages' })).toContainText('The link names a task that is not here')
    expect(app.electron.windows()).toHaveLength(1)
    await expect(app.room.header).toHaveAttribute('data-task-id', taskId)
    await expect(card).toHaveAttribute('data-approval-id', id!)
    expect(await app.audit(), 'nothing was written').toEqual(before)
    await app.room.approve('command')
    await app.room.hasStatus('result-ready', 90_000)
    const settled = (await app.eventsOf('hold-settled')).map(({ payload }) => JSON.parse(payload) as { approvalId: string; outcome: string })
    expect(settled.filter(({ approvalId }) => approvalId === id).map(({ outcome }) => outcome)).toEqual(['approved'])
  } finally {
    await app.close()
  }
})

test('a link that starts the app goes straight to its task, also one whose turn was cut off: its exits work, and the other task is as it was', async ({ provider }) => {
  provider.coder(does.write('/workspace/poem.txt', 'half of it\n'.repeat(400), { half: 'until-released' }))
  const launch = { ownerFolder, providers: [stubEntry(provider)] }
  const first = await App.launch(launch)
  const cut = await first.begin({ title: 'The cut off task', models: stubModels })
  await first.room.approve('brief')
  await provider.halfway()
  const other = await first.begin({ title: 'The other task', models: stubModels })
  await expect.poll(async () => (await first.eventsOf('hold-opened')).filter(({ taskId }) => taskId === other).length, { timeout: 60_000 }).toBe(1)
  await first.crash()

  const second = await App.launch({ ...launch, arguments: [`countersign://task/${cut}`] })
  try {
    await expect(second.room.header).toHaveAttribute('data-task-id', cut, { timeout: 60_000 })
    await expect(second.room.uncertain).toBeVisible({ timeout: 60_000 })
    await expect(second.room.spinning).toHaveCount(0)
    await second.room.markNotDone()
    await second.room.hasStatus('failed')
    expect((await second.eventsOf('hold-settled')).filter(({ taskId }) => taskId === other), 'the other task\'s card waits').toEqual([])
    await second.window.getByRole('option', { name: /The other task/ }).click()
    await expect(second.room.hold('brief')).toBeVisible()
    expect(second.windowErrors).toEqual([])
  } finally {
    await second.close()
  }
})

/** Starts the app once more, as a browser does with a link; resolves when that second one has handed over and gone. */
async function secondInstance(link?: string): Promise<void> {
  const child = spawn(appExecutable('inspectable'), [`--user-data-dir=${join(ownerFolder, 'user-data')}`, '--disable-gpu', ...(link === undefined ? [] : [link])], { env: ownerEnvironment(ownerFolder), cwd: ownerFolder, stdio: 'ignore' })
  await once(child, 'exit')
}
