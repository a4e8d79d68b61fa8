import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openScriptedRoom } from '../../src-main/adapters/memory/scripted-room.ts'
import { openJournal } from '../../src-main/adapters/sqlite/open.ts'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { give, newOwnerFolder, subfolder } from '../owner-folder.ts'

let ownerFolder: string
test.beforeEach(() => { ownerFolder = newOwnerFolder() })
test.afterEach(() => { rmSync(ownerFolder, { recursive: true, force: true }) })

/** A journal as the engine itself writes it: so many tasks, begun and stopped one after the other. */
async function begun(count: number): Promise<void> {
  const userData = subfolder(ownerFolder, 'user-data')
  mkdirSync(join(userData, 'journal'))
  const opened = openJournal({ path: join(userData, 'journal', 'journal.sqlite'), clock: { now: () => Date.now() } })
  if (!opened.ok) throw new Error(opened.error.message)
  const room = await openScriptedRoom({ journal: () => opened.value })
  for (let number = 1; number <= count; number += 1) {
    const taskId = await room.create({ title: `Task number ${String(number)}` })
    await room.give(taskId, { is: 'stop-task' })
    await room.time.advance(1_000)
  }
  await room.engine.close()
  opened.value.close()
  for (const name of readdirSync(userData, { recursive: true, encoding: 'utf8' })) give(join(userData, name))
}

test('of 112 tasks the newest fifty are listed, and the older ones come in by the keyboard, without losing the place', async () => {
  await begun(112)
  const app = await App.launch({ ownerFolder })
  try {
    const { window, room } = app
    const tasks = window.getByRole('listbox', { name: 'Tasks' }).getByRole('option')
    const more = window.getByRole('button', { name: /^Show older tasks/ })
    await expect(tasks).toHaveCount(50, { timeout: 60_000 })
    await expect(tasks.first()).toContainText('Task number 112')
    await expect(room.header).toContainText('Task number 112')
    await expect(more).toHaveText('Show older tasks (62)')

    // From the list it is the next stop of the tab key.
    await tasks.first().focus()
    await window.keyboard.press('Tab')
    await expect(more).toBeFocused()
    await window.keyboard.press('Enter')
    await expect(tasks).toHaveCount(100)
    await expect(more).toHaveText('Show older tasks (12)')
    await expect(more, 'the next step is under the same key').toBeFocused()
    await window.keyboard.press('Space')
    await expect(tasks).toHaveCount(112)
    await expect(more).toHaveCount(0)
    await expect(tasks.nth(100), 'what came in last is where it goes on, since the button has gone').toBeFocused()
    await expect(tasks.nth(100)).toContainText('Task number 12')
    await expect(room.header, 'nothing was chosen by it').toContainText('Task number 112')
    await window.keyboard.press('End')
    await window.keyboard.press('Enter')
    await expect(room.header).toContainText('Task number 1')
    await expect(room.transcript).toContainText('Task number 1')

    // What is far down is found without going there.
    await window.getByRole('searchbox', { name: 'Filter tasks' }).fill('number 37')
    await expect(tasks).toHaveCount(1)
    await tasks.first().click()
    await expect(room.header).toContainText('Task number 37')
    expect(app.windowErrors).toEqual([])
  } finally {
    await app.close()
  }
})

test('fifty tasks are listed whole, with nothing to show beyond them', async () => {
  await begun(50)
  const app = await App.launch({ ownerFolder })
  try {
    await expect(app.window.getByRole('listbox', { name: 'Tasks' }).getByRole('option')).toHaveCount(50, { timeout: 60_000 })
    await expect(app.window.getByRole('button', { name: /^Show older tasks/ })).toHaveCount(0)
  } finally {
    await app.close()
  }
})
