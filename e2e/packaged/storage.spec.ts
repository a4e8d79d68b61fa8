import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { newOwnerFolder } from '../owner-folder.ts'
import { screenshotBoth } from '../screens.ts'

let ownerFolder: string
test.beforeEach(() => { ownerFolder = newOwnerFolder() })
test.afterEach(() => { rmSync(ownerFolder, { recursive: true, force: true }) })

test('what a finished task left on disk goes at two clicks, its snapshot too, and that stays on record; a task at work keeps its own', async () => {
  const app = await App.launch({ ownerFolder })
  try {
    const { room, window } = app
    const onDisk = (): readonly string[] => readdirSync(join(app.userData, 'tasks'))
    await room.runSample()
    await room.deny('brief')
    await room.hasStatus('cancelled')
    await window.getByRole('navigation').getByRole('button', { name: 'New task' }).click()
    await window.getByRole('radio', { name: /sample/i }).check({ force: true })
    await room.runSample()
    await expect(room.hold('brief')).toBeVisible({ timeout: 60_000 })
    const [ended, open] = (await app.eventsOf('task-opened')).map(({ taskId }) => String(taskId)) as [string, string]
    await expect.poll(async () => (await app.eventsOf('workspace-disposed')).map(({ taskId }) => String(taskId))).toEqual([ended])
    expect([...onDisk()].sort()).toEqual([ended, open].sort())

    await window.getByRole('button', { name: 'Settings', exact: true }).click()
    await window.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name: 'Storage' }).click()
    const main = window.getByRole('main')
    await expect(main.getByRole('row')).toHaveCount(3)
    await expect(main.getByText('in use')).toHaveCount(1)
    await main.getByRole('button', { name: /^Clean up/ }).click()
    const dialog = window.getByRole('dialog', { name: 'Delete what this task left on disk?' })
    await screenshotBoth(app, 'storage-clean-up')
    await dialog.getByRole('button', { name: 'Clean up' }).click()
    await expect(dialog).toBeHidden()
    await expect(main.getByRole('row')).toHaveCount(2)
    expect(onDisk()).toEqual([open])
    expect((await app.eventsOf('noted')).filter(({ taskId }) => taskId === ended).at(-1)?.summary).toContain('The owner deleted what this task had left on disk')
    expect(app.windowErrors).toEqual([])
  } finally {
    await app.close()
  }
})
