import { expect, stubbed as test } from '../fixtures.ts'
import { stubModels } from '../models.ts'
import { does } from '../stubs/step.ts'

const link = 'ln -s shipping.ts src/alias.ts'

test('an edit\'s card shows the change, the file as Bot B named it and where that leads; what was approved before is asked again with the reason', async ({ app, provider }) => {
  test.setTimeout(180_000)
  provider.coder(does.bash(link), does.edit('/workspace/src/alias.ts', 'flatRate: Cents = 4_90', 'flatRate: Cents = 3_90'), does.bash('rm src/alias.ts'), does.bash(link), does.say('Done.'))
  const { room, window } = app
  await app.begin({ title: 'Edits ask', models: stubModels, grant: { edits: 'ask', testCommand: 'allow', otherCommands: 'ask' } })
  await room.approve('brief')
  await room.approve('command', 90_000)

  const card = room.hold('edit')
  await expect(card).toBeVisible({ timeout: 60_000 })
  for (const line of ['-const flatRate: Cents = 4_90', '+const flatRate: Cents = 3_90']) await expect(card.locator('[data-exact]')).toContainText(line)
  const fact = (label: string) => card.locator('.approval-fact', { has: window.locator('dt', { hasText: new RegExp(`^${label}$`) }) })
  await expect(fact('File'), 'what Bot B wrote is labelled as its own').toContainText('/workspace/src/alias.ts Written by Bot B')
  await expect(fact('Leads to')).toContainText('/workspace/src/shipping.ts')
  await expect(fact('Leads to'), 'what the app found out is not').not.toContainText('Written by')
  await expect(card.getByRole('button', { name: 'Allow again…' }), 'an edit through a link is for one time').toHaveCount(0)
  await window.screenshot({ path: 'dist/screens/card-edit-through-link.png' })
  await room.approve('edit')
  await expect(room.tools({ tool: 'edit' })).toHaveAttribute('data-state', 'done', { timeout: 60_000 })

  const remove = room.hold('command')
  await expect(remove).toContainText('rm src/alias.ts', { timeout: 60_000 })
  await expect(remove, 'the first time there is nothing to say of').not.toContainText('Asked again')
  await room.approve('command')
  await expect(room.hold('command')).toContainText('Asked again: You approved the same before. Each approval is for one time.', { timeout: 60_000 })
  await room.deny('command')
})
