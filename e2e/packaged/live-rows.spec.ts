import { expect, stubbed as test } from '../fixtures.ts'
import { stubModels } from '../models.ts'
import { makeProject } from '../owners-project.ts'
import { screenshotBoth } from '../screens.ts'
import { does } from '../stubs/step.ts'

const old = 'export const total = (items: readonly number[]) => {\n  let sum = 0\n  for (const item of items) sum += item\n  return sum\n}\n'
const fresh = 'export const total = (items: readonly number[]) =>\n  items.reduce((sum, item) => sum + item, 0)\n\n/** Of all that are known. */\nexport const none = total([])\n'

test('shows every kind of call while it is written: code in colours, an edit as what goes and comes, a command as it is typed, other arguments by name', async ({ app, provider }) => {
  test.setTimeout(180_000)
  const half = 'until-released' as const
  provider.coder(
    does.write('/workspace/src/list.ts', `${old}\n`.repeat(40), { half }), does.edit('/workspace/src/total.ts', old, fresh, { half }), does.grep('reduce\\(', { half }),
    does.bash(`true && echo ${'a-word '.repeat(30)}the-end-of-a-command`, 'Run the tests', { half }), does.say('Done.'),
  )
  const { room, window } = app
  await app.begin({ models: stubModels, source: { kind: 'folder', path: makeProject(app.ownerFolder, { 'src/total.ts': old }), mounts: [] } })
  await room.approve('brief')

  await provider.halfway(1)
  const write = room.tools({ tool: 'write' })
  await expect(write).toContainText('list.ts')
  await expect(write.locator('.tool-tail span[style*="light-dark"]').first(), 'a coloured word').toBeAttached({ timeout: 30_000 })
  await screenshotBoth(app, 'live-write')
  provider.release()

  await provider.halfway(2)
  const edit = room.tools({ tool: 'edit' })
  await expect(edit.locator('.tail-gone').filter({ hasText: 'for (const item of items) sum += item' })).toHaveCount(1)
  provider.release()

  await provider.halfway(3)
  await expect(room.tools({ tool: 'grep' })).toContainText('patternreduce\\(')
  provider.release()

  await provider.halfway(4)
  const bash = room.tools({ tool: 'bash' })
  await expect(bash).toHaveAttribute('data-state', 'preview')
  await expect(bash).toContainText('true && echo')
  await expect(bash, 'only as far as it was sent').not.toContainText('the-end-of-a-command')
  await expect(bash).toContainText('Incomplete')
  await expect(window.getByRole('button', { name: 'Approve', exact: true }), 'nothing of a preview can be approved').toHaveCount(0)
  await screenshotBoth(app, 'live-bash')
  provider.release()
  await room.approve('command')
  await room.hasStatus('result-ready', 60_000)
  await expect(room.spinning).toHaveCount(0)
  expect(app.windowErrors).toEqual([])
})

test('says it when a reply uses one id for two calls, of which OpenCode keeps one', async ({ app, provider }) => {
  provider.coder(does.bash('true', 'First', { twin: { tool: 'bash', input: { command: 'true', description: 'Second' } } }), does.say('Done.'))
  await app.begin({ models: stubModels, source: { kind: 'folder', path: makeProject(app.ownerFolder, { 'a.txt': 'a\n' }), mounts: [] } })
  await app.room.approve('brief')
  await expect(app.room.transcript.getByText(/gave two calls of one reply the same id/)).toHaveCount(1, { timeout: 60_000 })
  await app.room.hasStatus('result-ready', 60_000)
  await expect(app.room.spinning).toHaveCount(0)
  const finals = (await app.audit()).filter((event) => event.type === 'tool-ended').map((event) => (JSON.parse(event.payload) as { callId: string }).callId)
  expect(new Set(finals).size, 'one final record a call').toBe(finals.length)
})
