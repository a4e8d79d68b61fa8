import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { screenshotBoth } from '../screens.ts'

const cliName = 'OpenCode CLI (opencode run)'

test('the owner lets Bot B run as the OpenCode CLI: the sample task from Settings to accepted, with early rows and one final record a call', async () => {
  const app = await App.launch({ env: { COUNTERSIGN_DEMO_HOLD_MS: '4000' } })
  try {
    const { room, window } = app
    await chooseInSettings(app)
    await lookAtNewTask(app)
    await window.getByText('The sample task', { exact: true }).click()
    await room.runSample()

    const brief = room.hold('brief')
    await expect(brief).toBeVisible({ timeout: 60_000 })
    await expect(brief, 'the card says how Bot B will run').toContainText('OpenCode CLI')
    await room.approve('brief')

    const write = room.tools({ tool: 'write' }).first()
    await expect(write, 'a row before the arguments have ended').toHaveAttribute('data-state', 'preview', { timeout: 120_000 })
    const callId = (await write.getAttribute('data-call-id'))!
    await screenshotBoth(app, 'cli-preview')
    await expect(room.tools({ callId })).toHaveAttribute('data-state', 'done', { timeout: 60_000 })

    await expect(room.hold('command'), 'the command waits at the broker, exact').toContainText('bun scripts/check-style.ts', { timeout: 120_000 })
    const waiting = room.tools({ tool: 'bash' }).last()
    await expect(waiting, 'its row says whom it waits for, though the runtime says that it runs').toHaveAttribute('data-state', 'awaiting-approval')
    await expect(waiting, 'and since when').toContainText(/\d:\d\d/)
    await screenshotBoth(app, 'cli-command-hold')
    await room.approve('command')
    await room.hasStatus('result-ready', 120_000)
    await expect(window.getByRole('complementary', { name: 'Inspector' }).locator('[data-runtime="opencode-run"]')).toHaveText(cliName)
    await room.acceptResult()
    await room.hasStatus('accepted')

    await expect(room.spinning).toHaveCount(0)
    expect((await room.rowKinds()).filter((kind) => kind === 'question'), 'there is no question tool').toEqual([])
    const events = await app.audit()
    const finals = events.filter(({ type }) => type === 'tool-ended').map(({ payload }) => (JSON.parse(payload) as { callId: string }).callId)
    expect(finals).toContain(callId)
    expect(new Set(finals).size, 'one final record a call').toBe(finals.length)
    await expect(room.tools()).toHaveCount(finals.length)
    expect(events.find(({ type }) => type === 'task-opened')!.payload, 'the record says how it ran').toContain('"runtime":"opencode-run"')
    expect(app.windowErrors).toEqual([])
  } finally {
    await app.close()
  }
})

async function chooseInSettings(app: App): Promise<void> {
  const { window } = app
  await window.getByRole('button', { name: 'Settings', exact: true }).click()
  await window.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name: 'Runtimes' }).click()
  await window.getByRole('radio', { name: cliName }).check({ force: true })
  await expect.poll(async () => (await app.call('settings.get', {})).defaults.runtime).toBe('opencode-run')
  await screenshotBoth(app, 'cli-settings')
}

/** New tasks start with what Settings say; what this runtime cannot do is said before the task is sent. */
async function lookAtNewTask(app: App): Promise<void> {
  const { window } = app
  await window.getByRole('button', { name: 'New task', exact: true }).first().click()
  const choice = window.getByRole('radiogroup', { name: 'How Bot B runs' })
  await expect(choice.getByRole('radio', { name: cliName })).toBeChecked()
  await window.getByRole('radiogroup', { name: 'Edits inside the workspace' }).getByRole('radio', { name: 'Ask' }).click()
  await expect(window.getByRole('alert').filter({ hasText: 'cannot ask before each edit' })).toBeVisible()
  await choice.scrollIntoViewIfNeeded()
  await screenshotBoth(app, 'cli-new-task')
}
