import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { stubEntry, stubModels } from '../models.ts'
import { processesRunning } from '../processes.ts'
import { screenshotBoth } from '../screens.ts'
import { does } from '../stubs/step.ts'

// OpenCode waits between its tries as long as the provider asks for.
test.setTimeout(240_000)

for (const { name, runtime, words } of [
  { name: 'OpenCode server', runtime: 'opencode-server', words: /Waits for the model: .*attempt 1 failed/ },
  { name: 'OpenCode CLI, which tells nothing of it', runtime: 'opencode-run', words: /Waits for the model: OpenCode tries again; attempt 1 failed: Scripted provider answered with status 429/ },
] as const) {
  test(`a provider that refuses for now is waited for in words, since when and until when: ${name}`, async ({ provider }) => {
    provider.coder({ is: 'status', status: 429, message: 'Slow down', retryAfterS: 8 }, does.bash('true', 'Run the tests'), does.say('Done.'))
    const app = await App.launch({ providers: [stubEntry(provider)] })
    try {
      await app.begin({ models: stubModels, runtime })
      await app.room.approve('brief')
      const waits = app.room.header.locator('[data-waiting-for]')
      await expect(waits).toContainText(words, { timeout: 90_000 })
      await expect(waits, 'since when').toContainText(/ · \d:\d\d/)
      await expect(waits, 'until when').toContainText('next try in 0:0')
      await provider.request('coder', 2)
      await expect(waits).toHaveCount(0)
      await expect(app.room.tools({ tool: 'bash' }).first(), 'the turn went on').toHaveAttribute('data-state', 'done', { timeout: 90_000 })
    } finally {
      await app.close()
    }
  })
}

test('an open call says what it waits for: the first byte, then the reply, then that no bytes come', async ({ provider }) => {
  provider.coder(does.write('/workspace/poem.txt', 'half of it\n'.repeat(40), { thinksMs: 4_000, half: 'until-released' }), does.bash('true', 'Run the tests'), does.say('Done.'))
  const app = await App.launch({ providers: [stubEntry(provider)] })
  try {
    await app.begin({ models: stubModels })
    await app.room.approve('brief')
    const open = app.room.transcript.locator('[data-call-state="open"] [data-call-waits]')
    await expect(open).toContainText('waiting for the first byte', { timeout: 90_000 })
    await provider.halfway()
    await expect(open).toContainText('reply comes in')
    await expect(open).toContainText(/no bytes for \d\d s/, { timeout: 30_000 })
    provider.release()
    await expect(app.room.tools({ tool: 'write' })).toHaveAttribute('data-state', 'done', { timeout: 90_000 })
    await expect(app.room.transcript.locator('[data-call-state="done"] [data-call-waits]')).toHaveCount(0)
    expect(app.windowErrors).toEqual([])
  } finally {
    await app.close()
  }
})

test('an approved edit that waits for a running command says so on its row and since when, and goes on when the command has ended', async ({ provider }) => {
  const write = { tool: 'write', input: { filePath: '/workspace/poem.txt', content: 'a line\n' }, id: 'call_poem' }
  provider.coder(does.bash('sleep 641', 'Run the tests', { twin: write }), does.say('Done.'))
  const app = await App.launch({ providers: [stubEntry(provider)] })
  try {
    const { room } = app
    await app.begin({ models: stubModels, testCommand: 'sleep 641', grant: { edits: 'ask', testCommand: 'allow', otherCommands: 'ask' } })
    await room.approve('brief')
    const sleeping = (): readonly number[] => processesRunning(app.ownerFolder, 'sleep 641').filter(({ command }) => command === 'sleep 641').map(({ pid }) => pid)
    await expect.poll(sleeping, { timeout: 90_000 }).toHaveLength(1)
    await room.approve('edit', 90_000)
    const row = room.tools({ tool: 'write' })
    await expect(row.locator('[data-write-waits="command"]')).toHaveText('Waits for a command', { timeout: 30_000 })
    await expect(row, 'the contract\'s state stays').toHaveAttribute('data-state', 'running')
    await expect(row.locator('.tool-numbers'), 'since when').toHaveText(/^\d:\d\d$/)
    await expect(row.getByRole('status')).toHaveText('write /workspace/poem.txt: Waits for a command')
    await screenshotBoth(app, 'edit-waits-for-command')
    for (const pid of sleeping()) process.kill(pid)
    await expect(row).toHaveAttribute('data-state', 'done', { timeout: 60_000 })
    await expect(row.locator('[data-write-waits]')).toHaveCount(0)
    expect((await app.audit()).map(({ payload }) => payload).join('\n'), 'a wait is shown, not recorded').not.toContain('"waits"')
    expect(app.windowErrors).toEqual([])
  } finally {
    await app.close()
  }
})

test('an answer of another model than the pinned one raises an alarm in the room, and every place that tells of the call says both', async ({ provider }) => {
  provider.coder(does.say('Nothing to do.', { model: 'another-model-9' }))
  const app = await App.launch({ providers: [stubEntry(provider)] })
  try {
    await app.begin({ models: stubModels })
    await app.room.approve('brief')
    const words = 'Asked for stub-model, answered by another-model-9'
    await expect(app.room.transcript, 'the alarm').toContainText('was answered by the model “another-model-9”, not by “stub-model”', { timeout: 90_000 })
    await expect(app.room.transcript.locator(`[data-call-number] [title="${words}"]`)).toHaveText('another-model-9')
    const inspector = app.window.getByRole('complementary', { name: 'Inspector' })
    await expect(inspector.locator('[data-swapped="true"]')).toContainText(words)
    await expect(inspector.locator('[data-swapped="true"]'), 'one call was answered so').toHaveCount(1)
    await app.window.screenshot({ path: 'dist/screens/model-alarm.png' })
    expect(app.windowErrors).toEqual([])
  } finally {
    await app.close()
  }
})
