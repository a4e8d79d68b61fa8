import { rmSync } from 'node:fs'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { stubEntry, stubModels } from '../models.ts'
import { newOwnerFolder } from '../owner-folder.ts'
import { contents, makeProject } from '../owners-project.ts'
import { processesOf, processesRunning } from '../processes.ts'
import { does } from '../stubs/step.ts'

let ownerFolder: string
test.beforeEach(() => { ownerFolder = newOwnerFolder() })
test.afterEach(() => { rmSync(ownerFolder, { recursive: true, force: true }) })

test('killed in the middle of a turn, it spins nothing, sends nothing twice, leaves nobody, and goes on when told to', async ({ provider }) => {
  provider.coder(does.write('/workspace/poem.txt', 'half of it was written\n'.repeat(400), { half: 'until-released' }))
  const folder = makeProject(ownerFolder, { 'README.md': '# Poems\n' })
  const launch = { ownerFolder, providers: [stubEntry(provider)] }
  const first = await App.launch(launch)
  await first.begin({ models: stubModels, testCommand: 'test -s poem.txt', source: { kind: 'folder', path: folder, mounts: [] } })
  await first.room.approve('brief')
  await provider.halfway()
  await expect(first.room.tools({ tool: 'write' })).toHaveAttribute('data-state', 'preview')
  const alive = processesOf(ownerFolder).map(({ pid }) => pid)
  expect(processesRunning(ownerFolder, 'opencode'), 'the coder runs').not.toEqual([])
  await first.crash()
  await expect.poll(() => processesRunning(ownerFolder, 'opencode'), 'the coder dies with the app').toEqual([])

  const second = await App.launch(launch)
  try {
    const { room } = second
    await expect(room.uncertain).toBeVisible({ timeout: 60_000 })
    await expect(room.spinning).toHaveCount(0)
    for (const exit of ['Re-check', 'Mark done', 'Mark not done', 'Resend']) await expect(room.uncertain.getByRole('button', { name: exit, exact: true })).toBeEnabled()
    await expect(room.header).toHaveAttribute('data-status', 'working')
    expect(processesOf(ownerFolder).filter(({ pid }) => alive.includes(pid)), 'processes of the first life').toEqual([])
    expect(processesRunning(ownerFolder, 'opencode serve'), 'nothing started by itself').toEqual([])
    expect(provider.of('coder'), 'nothing was sent again').toHaveLength(1)

    provider.coder(does.write('/workspace/poem.txt', 'whole\n'), does.bash('test -s poem.txt', 'Run the tests'), does.say('Finished.'))
    await room.uncertain.getByRole('button', { name: 'Resend', exact: true }).click()
    await room.hasStatus('result-ready', 90_000)
    expect(provider.of('coder')[1]!.user).toContain('The last turn was interrupted')
    await room.acceptResult()
    await room.hasStatus('accepted')
    expect(Buffer.from(contents(folder)['poem.txt']!, 'base64').toString()).toBe('whole\n')
    expect(provider.of('coder')).toHaveLength(4)
    const turns = (await second.audit()).filter((event) => event.type === 'turn-submitted')
    expect(turns, 'one submission a turn').toHaveLength(2)
  } finally {
    await second.close()
  }
})

test('killed while a command runs, the command and what it left in the background end too, and its row settles', async ({ provider }) => {
  const testCommand = 'setsid sleep 601 & sleep 602'
  provider.coder(does.bash(testCommand, 'Run the tests'))
  const folder = makeProject(ownerFolder, { 'README.md': '# Poems\n' })
  const launch = { ownerFolder, providers: [stubEntry(provider)] }
  const first = await App.launch(launch)
  await first.begin({ models: stubModels, testCommand, source: { kind: 'folder', path: folder, mounts: [] } })
  await first.room.approve('brief')
  await expect(first.room.tools({ tool: 'bash' })).toHaveAttribute('data-state', 'running', { timeout: 60_000 })
  const sleeping = (): readonly string[] => processesRunning(ownerFolder, 'sleep 60').map(({ command }) => command).filter((command) => /^sleep \d+$/.test(command)).sort()
  await expect.poll(sleeping).toEqual(['sleep 601', 'sleep 602'])
  await first.crash()
  await expect.poll(sleeping, 'they die with the app').toEqual([])

  const second = await App.launch(launch)
  try {
    const { room } = second
    await expect(room.uncertain).toBeVisible({ timeout: 60_000 })
    await expect(room.tools({ tool: 'bash' })).toHaveAttribute('data-state', /interrupted|uncertain/)
    await expect(room.spinning).toHaveCount(0)
    await room.uncertain.getByRole('button', { name: 'Mark not done', exact: true }).click()
    const dialog = second.window.getByRole('dialog', { name: 'Mark this turn as not done?' })
    await expect(dialog, 'one click ends no task').toContainText('The task ends.')
    await second.window.screenshot({ path: 'dist/screens/mark-not-done.png' })
    await second.window.keyboard.press('Escape')
    await expect(room.uncertain).toBeVisible()
    await room.markNotDone()
    await room.hasStatus('failed')
    expect(provider.of('coder')).toHaveLength(1)
  } finally {
    await second.close()
  }
})

test('killed while a brief waits, it draws the same hold again, and the approval works once', async ({ provider }) => {
  provider.coder(does.say('Nothing to do.'))
  const folder = makeProject(ownerFolder, { 'README.md': '# Poems\n' })
  const launch = { ownerFolder, providers: [stubEntry(provider)] }
  const first = await App.launch(launch)
  await first.begin({ models: stubModels, source: { kind: 'folder', path: folder, mounts: [] } })
  await expect(first.room.hold('brief')).toBeVisible({ timeout: 60_000 })
  const id = (await first.room.hold('brief').getAttribute('data-approval-id'))!
  const digest = (await first.room.hold('brief').getAttribute('data-digest'))!
  await first.crash()

  const second = await App.launch(launch)
  try {
    const { room } = second
    await expect(room.hold('brief')).toHaveAttribute('data-approval-id', id, { timeout: 60_000 })
    await expect(room.hold('brief')).toHaveAttribute('data-digest', digest)
    expect(provider.of('brief'), 'Bot A was not asked again').toHaveLength(1)
    await room.approve('brief')
    await expect(second.call('approval.decide', { commandId: 'a-second-click' as never, approvalId: id as never, digest: digest as never, verdict: 'approved', reason: null })).rejects.toMatchObject({ code: 'already-decided' })
    await provider.request('coder')
    await room.hasStatus('result-ready', 90_000)
    expect((await second.audit()).filter((event) => event.type === 'brief-approved')).toHaveLength(1)
  } finally {
    await second.close()
  }
})

test('killed while a command waits for approval, its card is gone for good: the old answer is refused, and a resent turn asks anew', async ({ provider }) => {
  test.setTimeout(180_000)
  const command = 'echo asked > asked.txt'
  provider.coder(does.bash(command, 'Ask'))
  const folder = makeProject(ownerFolder, { 'README.md': '# Poems\n' })
  const launch = { ownerFolder, providers: [stubEntry(provider)] }
  const first = await App.launch(launch)
  await first.begin({ models: stubModels, source: { kind: 'folder', path: folder, mounts: [] } })
  await first.room.approve('brief')
  await expect(first.room.hold('command')).toContainText(command, { timeout: 60_000 })
  const id = (await first.room.hold('command').getAttribute('data-approval-id'))!
  const digest = (await first.room.hold('command').getAttribute('data-digest'))!
  await first.crash()

  const second = await App.launch(launch)
  try {
    const { room } = second
    await expect(room.uncertain).toBeVisible({ timeout: 60_000 })
    await expect(room.hold('command')).toHaveCount(0)
    await expect(second.call('approval.decide', { commandId: 'a-late-click' as never, approvalId: id as never, digest: digest as never, verdict: 'approved', reason: null })).rejects.toMatchObject({ code: 'already-decided' })
    const outcomes = (await second.eventsOf('hold-settled')).map(({ payload }) => JSON.parse(payload) as { approvalId: string; outcome: string }).filter(({ approvalId }) => approvalId === id)
    expect(outcomes.map(({ outcome }) => outcome), 'nobody refused it, it was withdrawn').toEqual(['withdrawn'])

    provider.coder(does.bash(command, 'Ask'), does.bash('true', 'Run the tests'), does.say('Finished.'))
    await room.uncertain.getByRole('button', { name: 'Resend', exact: true }).click()
    await expect(room.hold('command')).toContainText(command, { timeout: 90_000 })
    expect(await room.hold('command').getAttribute('data-approval-id')).not.toBe(id)
    expect((await second.eventsOf('command-ran')), 'nothing ran before the new answer').toEqual([])
    await room.approve('command')
    await room.hasStatus('result-ready', 90_000)
    expect((await second.eventsOf('command-ran')).filter(({ payload }) => payload.includes(command)), 'it ran once').toHaveLength(1)
  } finally {
    await second.close()
  }
})
