import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, stubbed as test } from '../fixtures.ts'
import { stubModels } from '../models.ts'
import { does } from '../stubs/step.ts'

const tooLarge = 'dd if=/dev/zero of=big bs=1M count=65 2>/dev/null'
/** The least of everything, with which OpenCode itself still has to work. */
const least = { 'Memory, MiB': '1024', 'Processes': '128', 'Processor time of a command, minutes': '1', 'Size of a file, MiB': '64' }
const inForce = '1 GiB of memory, 128 processes, 1 min of processor time, 64 MiB a file'

test('a sandbox\'s limits are the owner\'s within bounds: a wrong one is named at its field, the least still lets the coder work, and the card, the log and the export say which were in force', async ({ app, provider }) => {
  test.setTimeout(240_000)
  const { room, window } = app
  await window.getByRole('button', { name: 'Settings', exact: true }).click()
  await window.getByRole('button', { name: 'Isolation' }).click()
  const save = window.getByRole('button', { name: 'Save', exact: true })
  await expect(save, 'nothing is changed yet').toBeDisabled()
  const memory = window.getByRole('textbox', { name: 'Memory, MiB' })
  for (const wrong of ['1023', '1.5', '', '99999999']) {
    await memory.fill(wrong)
    await expect(window.getByText(/^A whole number from 1024 to \d+: OpenCode needs the least/), wrong).toBeVisible()
    await expect(save, wrong).toBeDisabled()
  }
  await window.screenshot({ path: 'dist/screens/settings-limits-wrong.png' })
  for (const [name, value] of Object.entries(least)) await window.getByRole('textbox', { name, exact: true }).fill(value)
  await save.click()
  await expect(window.getByText(/^Saved\. It holds from the next start/)).toBeVisible()
  await expect(window.getByText(inForce), 'looked at again under the new limits').toBeVisible()
  await window.screenshot({ path: 'dist/screens/settings-limits.png' })

  provider.coder(does.bash(tooLarge), does.write('/workspace/poem.txt', 'a line\n'), does.bash('true', 'Run the tests'), does.say('Done.'))
  const taskId = await app.begin({ title: 'Under the least limits', models: stubModels })
  await window.getByRole('option', { name: /Under the least limits/ }).click()
  await room.approve('brief')
  await expect(room.hold('command')).toContainText(inForce, { timeout: 90_000 })
  await window.screenshot({ path: 'dist/screens/card-limits.png' })
  await room.approve('command')
  // The test command is a second row, perhaps before this is looked at.
  await expect(room.tools({ tool: 'bash' }).first()).toContainText('exit 153', { timeout: 60_000 })
  await expect(room.transcript).toContainText('may have passed the limit on a file\'s size (64 MiB)', { timeout: 60_000 })

  await room.endsUnverified(90_000)

  const target = join(app.ownerFolder, 'audit.jsonl')
  await app.willSaveAs(target)
  await app.call('audit.export', { taskId: taskId as never })
  const lines = readFileSync(target, 'utf8').split('\n').map((line) => line.replaceAll('\\"', '"'))
  const started = lines.find((line) => line.includes('"coder-started"')) ?? ''
  for (const words of [inForce, '"processesMax":128']) expect(started).toContain(words)
  const checked = lines.filter((line) => line.includes('"verification-ended"')).map((line) => /"testRun":(\{.*?"limits":\{.*?\})/.exec(line)?.[1])
  expect(checked.length, 'Bot A ran the tests in clean copies').toBeGreaterThan(0)
  for (const run of checked) for (const limit of ['"memoryBytesMax":1073741824', '"processesMax":128', '"commandCpuMsMax":60000', '"fileBytesMax":67108864']) expect(run, 'what such a run could use at most is on record with it').toContain(limit)
})
