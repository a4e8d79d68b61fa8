import type { Locator } from '@playwright/test'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { stubEntry, stubModels } from '../models.ts'
import { replaceProgram, smallDiskFor } from '../mounts.ts'
import { give, newOwnerFolder, subfolder } from '../owner-folder.ts'
import { makeProject } from '../owners-project.ts'

let ownerFolder: string
const journalOf = (folder: string): string => join(folder, 'user-data', 'journal', 'journal.sqlite')
test.beforeEach(() => { ownerFolder = newOwnerFolder() })
test.afterEach(() => { rmSync(ownerFolder, { recursive: true, force: true }) })

test('a broken settings file is kept aside and named, and the app runs on defaults', async () => {
  const settings = join(subfolder(ownerFolder, 'user-data'), 'settings.json')
  writeFileSync(settings, '{ "version": 1, "providers": [ ')
  give(settings)
  await using(await App.launch({ ownerFolder }), async (app) => {
    await says(app, /settings could not be read.*settings\.broken-1\.json/s, /put it back/)
    await app.room.runSample()
    await expect(app.room.hold('brief')).toBeVisible({ timeout: 60_000 })
  })
  expect(readFileSync(join(ownerFolder, 'user-data/settings.broken-1.json'), 'utf8')).toBe('{ "version": 1, "providers": [ ')
})

test('a damaged journal is left exactly as it is, and nothing runs without one', async () => {
  await someHistory()
  const file = openSync(journalOf(ownerFolder), 'r+')
  const { size } = statSync(journalOf(ownerFolder))
  for (let at = 4_096; at + 512 < size; at += 4_096) writeSync(file, Buffer.alloc(512, 0x5a), 0, 512, at)
  closeSync(file)
  await refusesJournal(/journal is damaged and was left exactly as it is/)
})

test('a journal of a newer app is not touched', async () => {
  await someHistory()
  const file = openSync(journalOf(ownerFolder), 'r+')
  // user_version: 4 bytes, big-endian, at offset 60 of the header. Source: https://www.sqlite.org/fileformat2.html
  writeSync(file, Buffer.from([0, 0, 3, 231]), 0, 4, 60)
  closeSync(file)
  await refusesJournal(/written by a newer version of the app \(format 999/)
})

test('an OpenCode that is too old starts nothing, and the window names its version and what to do', async () => {
  const old = join(ownerFolder, 'opencode')
  writeFileSync(old, '#!/bin/sh\necho 0.15.0\n')
  chmodSync(old, 0o755)
  await using(await App.launch({ ownerFolder, env: { COUNTERSIGN_OPENCODE_BIN: old } }), async (app) => {
    await app.window.getByRole('button', { name: 'Run the sample task' }).click()
    await expect(app.window.getByRole('main')).toContainText(/0\.15\.0/)
    await expect(app.window.getByRole('main')).toContainText(/1\.17\.18/)
    expect((await app.audit()).filter((event) => event.type === 'task-opened')).toEqual([])
    await app.window.getByRole('button', { name: /no OpenCode/ }).click()
    await expect(app.window.getByRole('main')).toContainText(/0\.15\.0/)
  })
})

/** Types a folder and starts in the same moment: what the form says of it then, or that it found the folder without a word. */
function startWhileLookedAt(path: Locator, folder: string): Promise<string> {
  return path.evaluate(async (field, typed) => {
    const form = field.closest('form')!
    const told = new Promise<string>((resolve) => {
      new MutationObserver(() => {
        const said = [...form.querySelectorAll('.form-end [role="status"]')].map((status) => status.textContent).join('')
        if (said !== '' || form.querySelector('[data-folder]') !== null) resolve(said === '' ? 'nothing was said' : said)
      }).observe(form, { subtree: true, childList: true, characterData: true })
    })
    // As React sees typing: the value as the browser sets it, then its event.
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(field, typed)
    field.dispatchEvent(new Event('input', { bubbles: true }))
    await new Promise(requestAnimationFrame)
    form.requestSubmit()
    return told
  }, folder)
}

test('a task that cannot start says so beside its button, wherever the long form is scrolled to', async () => {
  const old = join(ownerFolder, 'opencode')
  writeFileSync(old, '#!/bin/sh\necho 0.15.0\n')
  chmodSync(old, 0o755)
  await using(await App.launch({ ownerFolder, env: { COUNTERSIGN_OPENCODE_BIN: old } }), async (app) => {
    const { window } = app
    await app.inMain(({ BrowserWindow }) => { BrowserWindow.getAllWindows()[0]!.setContentSize(1_000, 700) })
    await window.getByRole('navigation').getByRole('button', { name: 'New task' }).click()
    for (const [name, words] of [['Title', 'Mine'], ['Requirement', 'Do it.'], ['Criterion 1', 'It is done.'], ['Test command', 'true']] as const) await window.getByRole('textbox', { name }).fill(words)
    expect(await startWhileLookedAt(window.getByRole('textbox', { name: 'Path' }), makeProject(ownerFolder, { 'README.md': '# Mine\n' }))).toBe('The folder is still being looked at. Start once more when it is shown what was found.')
    await expect(window.getByRole('main')).toContainText('1 file')
    await expect(window.getByText('still being looked at')).toBeHidden()
    await window.getByRole('textbox', { name: 'Title' }).scrollIntoViewIfNeeded()
    await window.getByRole('button', { name: 'Start task' }).click()
    const said = window.getByRole('alert').filter({ hasText: 'The task was not started' })
    await expect(said).toContainText('0.15.0', { timeout: 30_000 })
    await expect(said).toBeInViewport({ ratio: 1 })
    await window.screenshot({ path: 'dist/screens/new-task-not-started.png' })
  })
})

test('with port 18747 taken the proxy uses another one, says so, and the bots work', async () => {
  const squatter = createServer((socket) => { socket.destroy() }).listen(18_747, '127.0.0.1')
  await once(squatter, 'listening')
  try {
    await using(await App.launch({ ownerFolder }), async (app) => {
      await app.room.runSample()
      await expect(app.room.hold('brief')).toBeVisible({ timeout: 60_000 })
      await app.window.getByRole('button', { name: /^Isolated/ }).click()
      await expect(app.window.getByRole('main')).toContainText(/Port 18747 is taken by another program; the model proxy uses \d+/)
    })
  } finally {
    squatter.close()
  }
})

test('without a working sandbox nothing starts, and the window says why and what to install or allow', async () => {
  const restore = replaceProgram('/usr/bin/bwrap', 'echo "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces." >&2; exit 1', ownerFolder)
  try {
    await using(await App.launch({ ownerFolder }), async (app) => {
      await app.window.getByRole('button', { name: 'Run the sample task' }).click()
      await expect(app.window.getByRole('main')).toContainText(/does not let ordinary users/)
      await app.window.getByRole('button', { name: /^No isolation/ }).click()
      await expect(app.window.getByRole('main')).toContainText(/does not let ordinary users/)
      await expect(app.window.getByRole('main')).toContainText(/unprivileged_userns_clone/)
      expect((await app.audit()).filter((event) => event.type === 'task-opened')).toEqual([])
    })
  } finally {
    restore()
  }
})

test('a full disk refuses the click, keeps the hold, and the same click works once there is room', async ({ provider }) => {
  const disk = smallDiskFor(ownerFolder, 400)
  try {
    await using(await App.launch({ ownerFolder, providers: [stubEntry(provider)] }), async (app) => {
      const { room } = app
      await app.begin({ models: stubModels })
      await expect(room.hold('brief')).toBeVisible({ timeout: 60_000 })
      disk.fill()
      await room.hold('brief').getByRole('button', { name: 'Approve', exact: true }).click()
      await expect(room.hold('brief'), 'the hold still waits, and says why').toContainText(/disk .* is full.*Free some space/s)
      disk.free()
      await room.approve('brief')
      await provider.request('coder')
      expect(await app.call('audit.verify', {})).toMatchObject({ firstBadSeq: null })
    })
  } finally {
    disk.unmount()
  }
})

/** Runs the app as far as a task that waits, and quits: a journal with a history. */
async function someHistory(): Promise<void> {
  await using(await App.launch({ ownerFolder }), async (app) => {
    await app.room.runSample()
    await expect(app.room.hold('brief')).toBeVisible({ timeout: 60_000 })
  })
  expect(existsSync(`${journalOf(ownerFolder)}-wal`), 'the journal is closed').toBe(false)
}

/** The window says what is wrong with the journal, a task is refused for it, and not a byte of the journal changes. */
async function refusesJournal(message: RegExp): Promise<void> {
  const before = journalFiles()
  await using(await App.launch({ ownerFolder }), async (app) => {
    await says(app, message, /\w/)
    await app.window.getByRole('button', { name: 'Run the sample task' }).click()
    await expect(app.window.getByRole('main')).toContainText(message)
  })
  expect(journalFiles()).toEqual(before)
}

function journalFiles(): Readonly<Record<string, string>> {
  const folder = join(ownerFolder, 'user-data', 'journal')
  // SQLite may leave an empty log beside a database that it has looked at.
  const names = readdirSync(folder).filter((name) => statSync(join(folder, name)).size > 0)
  return Object.fromEntries(names.map((name) => [name, createHash('sha256').update(readFileSync(join(folder, name))).digest('hex')]))
}

/** A problem at start is on screen, with what to do. */
async function says({ window }: App, message: RegExp, todo: RegExp): Promise<void> {
  const banner = window.getByRole('alert').first()
  await expect(banner).toContainText(message, { timeout: 30_000 })
  await expect(banner).toContainText(todo)
}

async function using(app: App, work: (app: App) => Promise<void>): Promise<void> {
  try {
    await work(app)
  } finally {
    await app.close()
  }
}
