import { App } from '../app.ts'
import { expect, test } from '../fixtures.ts'
import { stubEntry, stubModels } from '../models.ts'
import { contents, makeProject } from '../owners-project.ts'
import { expectNobodyLeft, processesRunning } from '../processes.ts'
import { does } from '../stubs/step.ts'

test('a rejected result ends the task, keeps its summary and history, and leaves the folder as it was', async ({ provider }) => {
  provider.coder(does.write('/workspace/wrong.txt', 'not what was meant\n'), does.bash('true', 'Run the tests'), does.say('I wrote wrong.txt.'))
  const app = await App.launch({ providers: [stubEntry(provider)] })
  try {
    const folder = makeProject(app.ownerFolder, { 'README.md': '# Reject me\n' })
    const before = contents(folder)
    const { room } = app
    await app.begin({ models: stubModels, source: { kind: 'folder', path: folder, mounts: [] } })
    await room.approve('brief')
    await room.hasStatus('result-ready', 90_000)
    await room.rejectResult('Not what I meant')
    await room.hasStatus('cancelled')
    await expect(room.header).toContainText('Result rejected')
    await expect(room.transcript.getByRole('group', { name: 'Result rejected' })).toContainText('Not what I meant')
    await expect(room.transcript.getByRole('group', { name: 'Evidence' })).toContainText('I wrote wrong.txt.')
    expect(await room.rowKinds()).toEqual(expect.arrayContaining(['brief', 'tool', 'evidence', 'verification', 'decision']))
    expect(await app.call('review.get', { taskId: await app.shownTask() })).toMatchObject({ files: [{ change: { path: 'wrong.txt' } }] })
    expect(contents(folder)).toEqual(before)
    await expectNoCoder(app.ownerFolder)
  } finally {
    await app.close()
  }
})

test('Stop shows requested, then stopped with proof, and ends what a command had left in the background', async ({ provider }) => {
  const command = 'setsid sleep 611 & (setsid nohup sleep 612 >/dev/null 2>&1 &) ; sleep 613'
  provider.coder(does.bash(command, 'Wait'))
  const app = await App.launch({ providers: [stubEntry(provider)] })
  try {
    const { room } = app
    await app.begin({ models: stubModels })
    await room.approve('brief')
    await expect(room.hold('command')).toContainText(command, { timeout: 60_000 })
    expect(sleeping(app.ownerFolder), 'nothing runs before the approval').toEqual([])
    await room.approve('command')
    await expect.poll(() => sleeping(app.ownerFolder)).toEqual(['sleep 611', 'sleep 612', 'sleep 613'])
    const states = watchCancel(app)
    await room.stop()
    await room.hasStatus('cancelled')
    await expect(room.header.locator('[data-cancel="observed"]')).toContainText('Nothing is left')
    expect(await states, 'what the header said').toEqual(['requested', 'observed'])
    expect(sleeping(app.ownerFolder)).toEqual([])
    await expectNoCoder(app.ownerFolder)
    await expect(room.tools({ tool: 'bash' })).toHaveAttribute('data-state', 'interrupted')
    const observed = (await app.audit()).find((event) => event.type === 'cancel-observed')!
    expect(JSON.parse(observed.payload)).toMatchObject({ proof: { method: 'pid-namespace-empty' } })
    expect(provider.of('coder')).toHaveLength(1)
  } finally {
    await app.close()
  }
})

test('a denied brief ends the task before anything was sent or started', async ({ provider }) => {
  const app = await App.launch({ providers: [stubEntry(provider)] })
  try {
    await app.begin({ models: stubModels })
    await app.room.deny('brief')
    await app.room.hasStatus('cancelled')
    await expect(app.room.header).toContainText('Brief denied')
    expect(provider.of('coder')).toEqual([])
    await expectNoCoder(app.ownerFolder)
  } finally {
    await app.close()
  }
  await expectNobodyLeft(app.ownerFolder)
})

function sleeping(ownerFolder: string): readonly string[] {
  return processesRunning(ownerFolder, 'sleep 61').map(({ command }) => command).filter((command) => /^sleep \d+$/.test(command)).sort()
}

async function expectNoCoder(ownerFolder: string): Promise<void> {
  await expect.poll(() => processesRunning(ownerFolder, 'opencode serve').length).toBe(0)
}

/** Every value that the header's cancel facet takes until it is observed; begins to watch at once. */
function watchCancel(app: App): Promise<readonly string[]> {
  return app.window.evaluate(() => new Promise<string[]>((resolve) => {
    const seen: string[] = []
    const look = (): void => {
      const state = document.querySelector('[data-cancel]')?.getAttribute('data-cancel')
      if (typeof state === 'string' && seen.at(-1) !== state) seen.push(state)
      if (state !== 'observed') return
      watcher.disconnect()
      resolve(seen)
    }
    const watcher = new MutationObserver(look)
    watcher.observe(document.body, { subtree: true, childList: true, attributes: true })
    look()
  }))
}
