import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { stubEntry, stubModels } from '../models.ts'
import { newOwnerFolder } from '../owner-folder.ts'
import { contents, makeProject } from '../owners-project.ts'
import { does } from '../stubs/step.ts'

let ownerFolder: string
test.beforeEach(() => { ownerFolder = newOwnerFolder() })
test.afterEach(() => { rmSync(ownerFolder, { recursive: true, force: true }) })
// Several starts, which a busy machine takes its time for.
test.setTimeout(240_000)

test('a result whose files were changed while the app was down is uncertain as soon as its task is opened, and one whose files change while it waits as soon as it is reviewed; with the files back it is accepted', async ({ provider }) => {
  provider.coder(does.write('/workspace/poem.txt', 'as it was verified\n'), does.bash('test -s poem.txt', 'Run the tests'), does.say('Finished.'))
  const folder = makeProject(ownerFolder, { 'README.md': '# Poems\n' })
  const launch = { ownerFolder, providers: [stubEntry(provider)] }
  const first = await App.launch(launch)
  const taskId = await first.begin({ models: stubModels, testCommand: 'test -s poem.txt', source: { kind: 'folder', path: folder, mounts: [] } })
  const poem = join(first.userData, 'tasks', taskId, 'workspace', 'poem.txt')
  await first.room.approve('brief')
  await first.room.hasStatus('result-ready', 90_000)
  await first.close()
  const verified = readFileSync(poem)
  writeFileSync(poem, 'somebody else\'s\n')

  const second = await App.launch(launch)
  try {
    const { room, window } = second
    await expect(room.uncertain, 'without a click').toContainText('not those of the result any more', { timeout: 60_000 })
    await expect(room.uncertain.getByRole('button')).toHaveText(['Re-check', 'Reject result', 'Request a revision'])
    await expect(room.header).toHaveAttribute('data-status', 'result-ready')
    await room.uncertain.getByRole('button', { name: 'Request a revision' }).click()
    await expect(window.getByRole('dialog', { name: 'Request a revision' }).getByRole('textbox')).toBeFocused()
    await window.keyboard.press('Escape')
    await room.uncertain.getByRole('button', { name: 'Reject result' }).click()
    await expect(window.getByRole('dialog', { name: 'Reject this result' }), 'one click discards nothing').toContainText('The task ends as cancelled.')
    await window.keyboard.press('Escape')
    await expect(room.header).toHaveAttribute('data-status', 'result-ready')
    await room.uncertain.getByRole('button', { name: 'Re-check' }).click()
    await expect(room.uncertain).toContainText('Checked again: the files in the workspace are still not those of the result')
    writeFileSync(poem, verified)
    await room.uncertain.getByRole('button', { name: 'Re-check' }).click()
    await expect(room.uncertain).toHaveCount(0)

    writeFileSync(poem, 'changed while it waits\n')
    await window.getByRole('button', { name: 'Review', exact: true }).click()
    await expect(room.uncertain, 'Review reads the files').toContainText('not those of the result any more')
    await expect(window.getByRole('button', { name: 'Accept result' })).toHaveCount(0)
    await window.screenshot({ path: 'dist/screens/review-of-changed-files.png' })
    writeFileSync(poem, verified)
    await room.uncertain.getByRole('button', { name: 'Re-check' }).click()
    await expect(room.uncertain).toHaveCount(0)
    await room.acceptResult()
    await room.hasStatus('accepted')
    expect(Buffer.from(contents(folder)['poem.txt']!, 'base64').toString()).toBe('as it was verified\n')
    expect((await second.eventsOf('recovery-needed')).map(({ taskId: of }) => of)).toEqual([taskId, taskId, taskId])
    expect(second.windowErrors).toEqual([])
  } finally {
    await second.close()
  }
})
