import { rmSync } from 'node:fs'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { stubEntry, stubModels } from '../models.ts'
import { newOwnerFolder } from '../owner-folder.ts'
import { does } from '../stubs/step.ts'

const command = 'ls -la src && wc -l src/shipping.ts'
let ownerFolder: string
test.beforeEach(() => { ownerFolder = newOwnerFolder() })
test.afterEach(() => { rmSync(ownerFolder, { recursive: true, force: true }) })

test('a standing grant is a second, explicit choice; it lets its exact command run again, stands on the row, survives a crash, and ends at a click', async ({ provider }) => {
  test.setTimeout(240_000)
  provider.coder(does.bash(command), does.bash(command), does.bash('echo another'), does.bash(command), does.say('Done.'))
  let app = await App.launch({ ownerFolder, providers: [stubEntry(provider)] })
  try {
    const { room, window } = app
    const taskId = await app.begin({ title: 'Granted', models: stubModels })
    await room.approve('brief')
    const card = room.hold('command')
    await card.getByRole('button', { name: 'Allow again…' }).click({ timeout: 90_000 })
    const step = card.getByRole('group', { name: 'Allow this exact command again without asking' })
    const confirm = step.getByRole('button', { name: /^Approve and allow until \d\d:\d\d$/ })
    await expect(step).toContainText('2 commands (ls, wc)')
    await expect(confirm).toBeEnabled()
    await window.screenshot({ path: 'dist/screens/standing-grant.png' })
    await confirm.click()

    // The same bytes again: no card, and the row says by whose leave it ran.
    const rows = room.tools({ tool: 'bash' })
    await expect(rows.nth(1)).toHaveAttribute('data-state', 'done', { timeout: 60_000 })
    await expect(rows.nth(1)).toContainText('allowed by a standing grant')
    await expect(rows.first()).not.toContainText('allowed by a standing grant')
    await expect(room.hold('command'), 'another command is asked about').toContainText('echo another', { timeout: 60_000 })
    const ruled = (await app.eventsOf('permission-ruled')).map(({ actor, summary }) => [actor, summary])
    expect(ruled).toEqual([['owner', `granted by the owner: ${command}`], [expect.stringMatching(/^grant:grt_/), expect.stringMatching(/^granted by the owner's standing grant grt_/)]])

    // It is listed where the task is, and taken back there at once.
    const inspector = window.getByRole('complementary', { name: 'Inspector' })
    await expect(inspector.locator('[data-grant-id]')).toContainText('1 use')
    await inspector.getByRole('button', { name: `Revoke: ${command}` }).click()
    await expect(inspector.locator('[data-grant-id]')).toHaveAttribute('data-grant-state', 'revoked')
    await room.approve('command')
    await expect(room.hold('command'), 'the next time the owner is asked').toContainText(command, { timeout: 60_000 })
    await expect(room.hold('command')).toContainText('You revoked the standing grant that covered this.')
    await room.hold('command').getByRole('button', { name: 'Allow again…' }).click()
    await room.hold('command').getByRole('button', { name: /^Approve and allow until/ }).click()
    await expect(room.hold('command')).toHaveCount(0)

    await app.crash()
    app = await App.launch({ ownerFolder, providers: [stubEntry(provider)] })
    await app.window.getByRole('button', { name: 'Settings', exact: true }).click()
    await app.window.getByRole('button', { name: 'Standing grants' }).click()
    const listed = app.window.getByRole('region', { name: 'Granted' }).locator('[data-grant-id]')
    await expect(listed).toHaveCount(2)
    await expect(listed.nth(0)).toHaveAttribute('data-grant-state', 'revoked')
    await expect(listed.nth(1)).not.toHaveAttribute('data-grant-state', 'revoked')
    await app.window.screenshot({ path: 'dist/screens/standing-grants.png' })
    // Digests are of one card: what was confirmed once confirms nothing else.
    const forged = await app.window.evaluate(([id, digest]) => globalThis.window.countersign?.call('approval.decide', { commandId: 'forged-1' as never, approvalId: id as never, digest: digest as never, verdict: 'approved', reason: null, standing: digest as never }), ['apr_none', `sha256:${'0'.repeat(64)}`])
    expect(forged).toMatchObject({ ok: false, error: { code: 'unknown-approval' } })
    expect((await app.eventsOf('grant-given')).filter((row) => row.taskId === taskId)).toHaveLength(2)
  } finally {
    await app.close()
  }
})
