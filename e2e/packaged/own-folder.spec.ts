import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { addProvider, startTask } from '../forms.ts'
import { give } from '../owner-folder.ts'
import { contents, makeProject } from '../owners-project.ts'
import { does } from '../stubs/step.ts'
import type { StubProvider } from '../stubs/provider.ts'
import { screenshotBoth } from '../screens.ts'

const key = 'sk-own-4f1c8a2be09d7765'
const committed = { 'README.md': '# Grüße\n', 'src/greet.sh': 'echo "Hallo $1"\n', '.gitignore': 'geheim.txt\n' }
const dirty = { 'src/greet.sh': 'echo "Hallo, $1"\n', 'notizen über alles.txt': 'noch nicht in git\n', 'geheim.txt': 'ignored by git\n' }
const greeting = 'echo "Guten Tag, $1!"\n'
const testCommand = 'test "$(sh src/greet.sh Welt)" = "Guten Tag, Welt!"'

test.beforeEach(({ provider }) => {
  provider.lead({ brief: JSON.stringify({ goal: 'Greet formally.', scope: 'src/greet.sh', criteria: ['It says Guten Tag.'], testCommand, excerptIds: ['src/greet.sh'] }) })
  provider.coder(
    does.read('/workspace/src/greet.sh'), does.question('With or without an exclamation mark?', ['with', 'without']),
    does.write('/workspace/src/greet.sh', greeting), does.write('/workspace/src/größe.txt', 'neu\n'), does.bash(testCommand, 'Run the tests'), does.say('It greets formally.'),
  )
})

test('a folder and a model of one\'s own, from the settings to the patch in the folder', async ({ app, provider }) => {
  const folder = makeProject(app.ownerFolder, committed, dirty)
  const before = contents(folder)
  const gitBefore = git(folder, 'log', '--oneline')
  await toResult(app, provider, folder)
  await screenshotBoth(app, 'own-folder-ready')
  expect(contents(folder), 'untouched before the acceptance').toEqual(before)
  await app.room.acceptResult()
  await app.room.hasStatus('accepted')
  expect(contents(folder)).toEqual({ ...before, 'src/greet.sh': base64(greeting), 'src/größe.txt': base64('neu\n') })
  expect(git(folder, 'log', '--oneline'), 'nothing is committed for the owner').toBe(gitBefore)
  expect(git(folder, 'diff', '--cached', '--name-only')).toBe('')
  await expect(app.room.transcript.locator('[data-applied="applied"]')).toContainText('to your folder')
  expect(await app.room.level('realModel')).toMatchObject({ reached: true })
  expect(await app.room.level('offlineMock')).toMatchObject({ reached: false })
})

test('a folder that changed underneath gets nothing, and the window says why', async ({ app, provider }) => {
  const folder = makeProject(app.ownerFolder, committed, dirty)
  await toResult(app, provider, folder)
  writeFileSync(join(folder, 'src/greet.sh'), 'echo "the owner was here"\n')
  give(join(folder, 'src/greet.sh'))
  const changed = contents(folder)
  await app.room.acceptResult()
  await expect(app.room.transcript.locator('[data-applied="refused"]')).toContainText(/changed/i)
  await app.room.hasStatus('result-ready')
  await screenshotBoth(app, 'folder-changed')
  expect(contents(folder)).toEqual(changed)
})

async function toResult(app: App, provider: StubProvider, folder: string): Promise<void> {
  const { room, window } = app
  await addProvider(app, { name: 'Mein Anbieter', baseUrl: provider.baseUrl, model: 'eigenes-modell', key })
  await expect(window.locator('[data-provider="mein-anbieter"]')).toContainText('key for this session only')
  await startTask(app, { folder, title: 'Grüße förmlich', requirement: 'Say Guten Tag instead of Hallo.', criteria: ['It says Guten Tag.', 'Nothing else changes.'], testCommand, model: 'eigenes-modell' }, /main.*2 changed files/s)
  await expect(room.hold('provider')).toContainText(`127.0.0.1:${provider.port}`, { timeout: 60_000 })
  await expect(room.hold('provider')).toContainText('the stored key of Mein Anbieter')
  expect(provider.asked, 'no byte leaves before the approval').toEqual([])
  await room.approve('provider')
  await expect(room.hold('brief')).toContainText('Greet formally.')
  await room.approve('brief')
  await expect(room.hold('provider')).toHaveAttribute('data-bot', 'coder')
  await room.approve('provider')
  await room.answer('with')
  await room.hasStatus('result-ready', 90_000)
  expect(new Set(provider.asked.map((asked) => asked.headers.authorization))).toEqual(new Set([`Bearer ${key}`]))
  expect(new Set(provider.asked.map((asked) => asked.model))).toEqual(new Set(['eigenes-modell']))
  expect(provider.asked.map((asked) => asked.body).join('\n'), 'what git ignores stays at home').not.toContain('ignored by git')
}

function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-c', `safe.directory=${folder}`, ...args], { cwd: folder, encoding: 'utf8' })
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
