import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { addProvider } from '../forms.ts'
import { stubEntry, stubModels } from '../models.ts'
import { give, newOwnerFolder, subfolder } from '../owner-folder.ts'
import { processesRunning } from '../processes.ts'
import { does } from '../stubs/step.ts'

let ownerFolder: string
test.beforeEach(() => { ownerFolder = newOwnerFolder() })
test.afterEach(() => { rmSync(ownerFolder, { recursive: true, force: true }) })
// Several starts a test, which a busy machine takes its time for.
test.setTimeout(240_000)

interface Looks { readonly bounds: Electron.Rectangle; readonly zoom: number }
const looks = (app: App): Promise<Looks> => app.inMain(({ BrowserWindow }) => {
  const window = BrowserWindow.getAllWindows()[0]!
  return { bounds: window.getNormalBounds(), zoom: window.webContents.getZoomFactor() }
})

test('the window opens where it was, as large and as zoomed; a place that is broken or on no display is forgotten', async () => {
  const first = await App.launch({ ownerFolder })
  const fresh = await looks(first)
  const wanted = { x: 40, y: 60, width: 1100, height: 700 }
  await first.inMain(({ BrowserWindow }, bounds) => { const window = BrowserWindow.getAllWindows()[0]!; window.setBounds(bounds); window.webContents.setZoomFactor(1.25) }, wanted)
  const placeFile = join(first.userData, 'window.json')
  // A drag's end is written down by itself, before the app closes.
  await expect.poll(() => existsSync(placeFile) ? (JSON.parse(readFileSync(placeFile, 'utf8')) as { area: { width: number } }).area.width : 0).toBe(1100)
  await first.close()

  const second = await App.launch({ ownerFolder })
  expect(await looks(second)).toMatchObject({ bounds: { width: 1100, height: 700 }, zoom: 1.25 })
  await second.close()

  for (const broken of ['{"area":', JSON.stringify({ area: { x: 30_000, y: 30_000, width: 1100, height: 700 }, maximized: false })]) {
    writeFileSync(placeFile, broken)
    give(placeFile)
    const again = await App.launch({ ownerFolder })
    expect((await looks(again)).bounds, broken).toMatchObject({ width: fresh.bounds.width, height: fresh.bounds.height })
    await again.close()
  }
})

test('quitting while a task works asks once; "Keep working" keeps it, "Stop and quit" ends the coder, and the next start shows it as uncertain', async ({ provider }) => {
  provider.coder(does.write('/workspace/poem.txt', 'half of it\n'.repeat(400), { half: 'until-released' }))
  const app = await App.launch({ ownerFolder, providers: [stubEntry(provider)] })
  await app.begin({ title: 'A task at work', models: stubModels })
  await app.room.approve('brief')
  await provider.halfway()
  const asked = async (): Promise<readonly string[]> => app.inMain(() => (globalThis as unknown as { asked: string[] }).asked)
  await app.inMain(({ app: main, dialog }) => {
    const asked: string[] = []
    const answers: ((response: number) => void)[] = []
    Object.assign(globalThis, { asked, answers })
    dialog.showMessageBox = (...given: unknown[]) => {
      const options = given.at(-1) as Electron.MessageBoxOptions
      asked.push(`${options.message} ${options.detail ?? ''}`)
      return new Promise((resolve) => { answers.push((response) => { resolve({ response, checkboxChecked: false }) }) })
    }
    main.quit()
    main.quit()
  })
  await expect.poll(async () => (await asked()).length).toBe(1)
  expect((await asked())[0]).toContain('A task at work')
  const answer = (response: number): Promise<void> => app.inMain((_electron, chosen) => { (globalThis as unknown as { answers: ((response: number) => void)[] }).answers.shift()?.(chosen) }, response)
  await answer(1)
  await expect(app.room.header).toHaveAttribute('data-status', 'working')
  expect(processesRunning(ownerFolder, 'opencode'), 'the coder works on').not.toEqual([])

  const ended = once(app.electron.process(), 'exit')
  await app.inMain(({ app: main }) => { setImmediate(() => { main.quit() }) })
  await expect.poll(async () => (await asked()).length, 'asked again for another quit').toBe(2)
  // The answer ends the app, so that its own answer may not come back.
  await answer(0).catch(() => undefined)
  await ended
  expect(processesRunning(ownerFolder, 'opencode'), 'nobody is left').toEqual([])

  const next = await App.launch({ ownerFolder, providers: [stubEntry(provider)] })
  try {
    await expect(next.room.uncertain).toBeVisible({ timeout: 60_000 })
    expect(provider.of('coder'), 'nothing was sent again').toHaveLength(1)
  } finally {
    await next.close()
  }
})

test('no field for code, commands or paths asks for spelling', async ({ app }) => {
  await app.window.getByRole('button', { name: 'New task', exact: true }).first().click()
  await app.window.getByRole('radio', { name: /A folder of yours/ }).check({ force: true })
  for (const name of [/Path/, /Test command/]) await expect(app.window.getByRole('textbox', { name })).toHaveAttribute('spellcheck', 'false')
  await expect(app.window.getByRole('textbox', { name: /Requirement/ })).toHaveAttribute('spellcheck', 'true')
})

test('opening at login is off, is turned on in Settings, and is the desktop\'s own entry; crash reports have a folder, no address, and an end', async () => {
  const old = join(subfolder(subfolder(subfolder(ownerFolder, 'user-data'), 'Crashpad'), 'completed'), '0f6c1c52-77a1-4d0e-9b2c-000000000001.dmp')
  writeFileSync(old, 'of an earlier life')
  utimesSync(old, 0, 0)
  const app = await App.launch({ ownerFolder })
  try {
    await app.window.getByRole('button', { name: 'Settings', exact: true }).click()
    await app.window.getByRole('button', { name: 'System' }).click()
    const entry = join(ownerFolder, '.config/autostart/countersign.desktop')
    const login = app.window.getByRole('switch', { name: 'Open Countersign when you log in' })
    await expect(login).not.toBeChecked()
    expect(existsSync(entry)).toBe(false)
    await login.click({ force: true })
    await expect.poll(() => existsSync(entry)).toBe(true)
    expect(readFileSync(entry, 'utf8')).toContain(`Exec="${await app.inMain(() => process.execPath)}"`)
    await expect(login).toBeChecked()
    await app.window.screenshot({ path: 'dist/screens/settings-system.png' })
    await login.click({ force: true })
    await expect.poll(() => existsSync(entry)).toBe(false)
    const crashes = await app.inMain(({ app: main, crashReporter }) => ({ folder: main.getPath('crashDumps'), uploads: crashReporter.getUploadToServer() }))
    expect(crashes).toEqual({ folder: join(app.userData, 'Crashpad'), uploads: false })
    await expect(app.window.getByText('Nothing is sent anywhere')).toBeVisible()
    await expect.poll(() => existsSync(old), 'a report that is too old goes by itself').toBe(false)
  } finally {
    await app.close()
  }
})

test('diagnostics are read before they are saved, are saved as they were read, and hold no key, prompt, name or path of the owner', async ({ provider }) => {
  const canaries = { title: 'CanaryTitle of a task', requirement: 'CanaryRequirement in words', key: 'sk-canary-diagnostics-5d10c7e2', model: stubModels.lead.modelId, file: 'CanaryFileContent' }
  provider.coder(does.write('/workspace/poem.txt', `${canaries.file}\n`), does.say('CanaryAnswer'))
  const app = await App.launch({ ownerFolder, providers: [stubEntry(provider)] })
  const target = join(ownerFolder, 'given-away.json')
  try {
    await addProvider(app, { name: 'CanaryProvider', baseUrl: 'http://127.0.0.1:9/v1', model: 'canary-model', key: canaries.key })
    await app.begin({ title: canaries.title, requirement: canaries.requirement, models: stubModels })
    await app.window.getByRole('option', { name: /CanaryTitle/ }).click()
    await app.room.approve('brief')
    await app.room.endsUnverified(90_000)
    await app.window.getByRole('button', { name: 'Settings', exact: true }).click()
    await app.window.getByRole('button', { name: 'System' }).click()
    await app.window.getByRole('button', { name: 'Prepare diagnostics' }).click()
    const shown = app.window.getByRole('region', { name: 'Diagnostics, exactly as they would be saved' })
    await expect(shown).toContainText('countersign-diagnostics')
    await app.window.screenshot({ path: 'dist/screens/settings-diagnostics.png' })
    await app.willSaveAs(target)
    await app.window.getByRole('button', { name: 'Save as…' }).click()
    await expect(app.window.getByText('given-away.json')).toBeVisible()
    const saved = readFileSync(target, 'utf8')
    expect(saved).toBe(await shown.evaluate((region) => region.textContent))
    const told = JSON.parse(saved) as { readonly journal: { readonly events: number; readonly headHash: string }; readonly isolation: { readonly usable: boolean } }
    expect(told).toMatchObject({ isolation: { usable: true }, journal: { firstBadSeq: null, tasksByStatus: { 'result-ready': 1 } } })
    expect(await app.call('audit.verify', {})).toMatchObject({ events: told.journal.events, headHash: told.journal.headHash })
    for (const secret of [...Object.values(canaries), 'CanaryProvider', 'canary-model', 'CanaryAnswer', ownerFolder, 'countersign-owner-']) expect(saved, secret).not.toContain(secret)
    // Another preview makes the bytes that were shown before unsavable.
    const { digest } = await app.call('diagnostics.preview', {})
    await app.call('settings.get', {})
    const later = await app.call('diagnostics.preview', {})
    expect(later.digest).not.toBe(digest)
    await expect(app.call('diagnostics.save', { digest })).rejects.toThrow('not the ones that were shown last')
  } finally {
    await app.close()
  }
})
