import type { App } from '../app.ts'
import { expect, stubbed as test } from '../fixtures.ts'
import { addProvider } from '../forms.ts'
import { stubModels } from '../models.ts'
import { does } from '../stubs/step.ts'

const screens = 'dist/screens'
/** Padding, a direction override, a zero width space, a look-alike and a line that only scrolling shows. */
const misleading = `ls ${' '.repeat(300)}; echo p\u0430ste \u202Etxt.sh \u200Bend\n${Array.from({ length: 60 }, (_, at) => `echo line ${at}`).join('\n')}\necho the last line`

test('a command\'s card shows all of it, whole: who asks and for whom, directory, environment, isolation, digest, and every character that hides', async ({ app, provider }) => {
  provider.coder(does.bash(misleading), does.say('Done.'))
  const { room, window } = app
  await window.setViewportSize({ width: 1000, height: 700 })
  await app.begin({ title: 'A task with a card', models: stubModels })
  await room.approve('brief')
  const card = room.hold('command')
  await expect(card).toBeVisible({ timeout: 90_000 })
  for (const words of ['Bot B', 'A task with a card', 'Working directory', '/workspace', 'Environment', 'Isolation', 'bubblewrap', 'Digest', 'Written by Bot B']) await expect(card, words).toContainText(words)
  for (const mark of ['U+202E', 'U+200B', 'U+0430', '301 spaces']) await expect(card.locator('[data-exact]').getByText(mark), mark).toBeVisible()
  await expect(card).toContainText(/places in this text could mislead the eye/)
  // The whole text is there and scrolls inside the card; the buttons stay in view.
  const text = card.locator('[data-exact]')
  expect(await text.evaluate((element) => element.scrollHeight > element.clientHeight + 20)).toBe(true)
  await expect(text).toContainText('echo the last line')
  for (const name of ['Approve', 'Deny']) await expect(card.getByRole('button', { name, exact: true })).toBeInViewport({ ratio: 1 })
  await text.evaluate((element) => { element.scrollTo(0, element.scrollHeight) })
  await expect(card.getByRole('button', { name: 'Approve', exact: true })).toBeInViewport({ ratio: 1 })
  await expect(card.getByRole('button', { name: 'Allow again…' }), 'nothing that cannot be parsed is offered for longer than once').toHaveCount(0)
  await expect(card).toContainText('Only one run at a time')
  await window.screenshot({ path: `${screens}/card-misleading-1000.png` })
  await room.deny('command')
})

test('a command with a key of the owner\'s own, which the card may not show, can be denied only: neither the button nor the keys approve it', async ({ app, provider }) => {
  const key = 'the-owner-typed-this-key-42'
  await addProvider(app, { name: 'Typed', baseUrl: 'http://127.0.0.1:9/v1', model: 'none', key })
  provider.coder(does.bash(`echo ${key}`), does.say('Done.'))
  const { room, window } = app
  await app.begin({ title: 'A task with a key', models: stubModels })
  await window.getByRole('option', { name: /A task with a key/ }).click()
  await room.approve('brief')
  const card = room.hold('command')
  await expect(card.locator('[data-exact]')).toHaveText('echo [redacted]', { timeout: 90_000 })
  await expect(card.getByRole('alert')).toContainText('cannot show what it asks for')
  await expect(card.getByRole('button', { name: 'Deny', exact: true })).toBeEnabled()
  await expect(card.getByRole('button', { name: 'Approve', exact: true })).toBeDisabled()
  await expect(card.getByRole('button', { name: 'Allow again…' })).toHaveCount(0)
  await window.keyboard.press('Control+Enter')
  await expect(card.locator('.approval-armed'), 'not even half').toHaveCount(0)
  await window.screenshot({ path: `${screens}/card-denied-only.png` })
  await expect(async () => {
    await window.keyboard.press('Control+Shift+Enter')
    await expect(card).toHaveCount(0, { timeout: 1_000 })
  }, 'denied by the keys').toPass()
  expect((await app.eventsOf('hold-settled')).map(({ payload }) => (JSON.parse(payload) as { outcome: string }).outcome)).toEqual(['approved', 'denied'])
})

test('cards come first in, first out: none swaps, none takes the focus, a queued one is not taken for seen, and a double click answers one', async ({ app }) => {
  const { room, window } = app
  await app.begin({ title: 'First', models: stubModels })
  const first = room.hold('brief')
  await expect(first).toBeVisible({ timeout: 60_000 })
  const firstId = await first.getAttribute('data-approval-id')
  const filter = window.locator('#task-filter')
  await filter.focus()
  await app.begin({ title: 'Second', models: stubModels })
  const queued = room.approvals.locator('li[data-approval-id]')
  await expect(queued).toBeVisible({ timeout: 60_000 })
  const secondId = (await queued.getAttribute('data-approval-id'))!
  expect(await first.getAttribute('data-approval-id'), 'the card in front stays').toBe(firstId)
  await expect(filter, 'whoever types goes on typing').toBeFocused()
  await window.keyboard.press('Space')
  await window.keyboard.press('Enter')
  await expect(first).toBeVisible()
  await filter.fill('')
  await window.screenshot({ path: `${screens}/cards-queued.png` })
  const shown = async (): Promise<readonly string[]> => (await app.eventsOf('hold-shown')).map(({ payload }) => (JSON.parse(payload) as { approvalId: string }).approvalId)
  expect(await shown(), 'the queued card is not on record as shown').toEqual([firstId])
  const early = await decide(app, secondId, (await queued.getAttribute('data-digest'))!)
  expect(early, 'and cannot be decided').toMatchObject({ ok: false, error: { code: 'not-shown' } })

  const approve = first.getByRole('button', { name: 'Approve', exact: true })
  await expect(approve).toBeEnabled()
  await approve.dblclick()
  const next = room.approvals.locator(`section[data-approval-id="${secondId}"]`)
  await expect(next).toBeVisible()
  await expect.poll(shown).toEqual([firstId, secondId])
  expect((await app.eventsOf('hold-settled')).length, 'the second click answered nothing').toBe(1)
  await expect(next.getByRole('button', { name: 'Approve', exact: true })).toBeEnabled()
})

test('the click that brings the window to the front answers nothing, and two windows\' clicks settle a card once', async ({ app }) => {
  const { room, window } = app
  await app.begin({ models: stubModels })
  const card = room.hold('brief')
  const approve = card.getByRole('button', { name: 'Approve', exact: true })
  await expect(approve).toBeEnabled({ timeout: 60_000 })
  // Without a window manager nothing else can come to the front: the window is told that it was left.
  await window.evaluate(() => globalThis.window.dispatchEvent(new Event('blur')))
  const box = (await approve.boundingBox())!
  await window.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
  expect(await app.eventsOf('hold-settled')).toEqual([])
  await expect(approve).toBeEnabled()

  const [id, digest] = [(await card.getAttribute('data-approval-id'))!, (await card.getAttribute('data-digest'))!]
  const outcomes = await Promise.all([decide(app, id, digest), decide(app, id, digest)])
  expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1)
  expect(outcomes.find((outcome) => !outcome.ok)).toMatchObject({ error: { code: 'already-decided' } })
  expect(await app.eventsOf('hold-settled')).toHaveLength(1)
})

test('for 600 ms after a card has come to the front its buttons take no press, and after each further change neither', async ({ app }) => {
  const { room, window } = app
  await pressEachFrame(app)
  await app.begin({ title: 'First', models: stubModels })
  const first = room.hold('brief')
  await expect(first.getByRole('button', { name: 'Approve', exact: true })).toBeEnabled({ timeout: 60_000 })
  await expectGrace(app, (await first.getAttribute('data-approval-id'))!)
  expect(await app.eventsOf('hold-settled'), 'no press was an answer').toEqual([])

  await app.begin({ title: 'Second', models: stubModels })
  const queued = room.approvals.locator('li[data-approval-id]')
  await expect(queued).toBeVisible({ timeout: 60_000 })
  const secondId = (await queued.getAttribute('data-approval-id'))!
  await room.approve('brief')
  const second = room.approvals.locator(`section[data-approval-id="${secondId}"]`)
  await expect(second.getByRole('button', { name: 'Approve', exact: true })).toBeEnabled({ timeout: 60_000 })
  await expectGrace(app, secondId)
  expect(await app.eventsOf('hold-settled'), 'the first card\'s answer is the only one').toHaveLength(1)
  await window.evaluate(() => { (globalThis as unknown as Presses).stop() })
})

interface Presses { readonly presses: { readonly id: string; readonly sinceMs: number; readonly closed: boolean }[]; stop(): void }

/** From now on every front card is pressed in every frame of its first 450 ms, as by an impatient hand (drawing it takes its share of the 600); noted is how long it had been there and whether it was closed. */
async function pressEachFrame(app: App): Promise<void> {
  await app.window.evaluate(() => {
    const seen = new Map<string, number>()
    let frame = 0
    const presses: Presses['presses'] = []
    const look = (now: number): void => {
      const button = document.querySelector<HTMLButtonElement>('section[data-approval-id][data-hold-kind="brief"] .approval-button-approved')
      const id = button?.closest('[data-approval-id]')?.getAttribute('data-approval-id') ?? null
      if (button !== null && id !== null) {
        const since = now - (seen.get(id) ?? now)
        if (since === 0) seen.set(id, now)
        if (since < 450) {
          presses.push({ id, sinceMs: since, closed: button.disabled })
          button.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, pointerType: 'mouse' }))
          button.dispatchEvent(new PointerEvent('click', { bubbles: true, pointerType: 'mouse' }))
        }
      }
      frame = requestAnimationFrame(look)
    }
    frame = requestAnimationFrame(look)
    Object.assign(globalThis, { presses, stop: () => { cancelAnimationFrame(frame) } })
  })
}

async function expectGrace(app: App, id: string): Promise<void> {
  const presses = (await app.window.evaluate(() => (globalThis as unknown as Presses).presses)).filter((press) => press.id === id)
  expect(presses.length, 'it was pressed while it was new').toBeGreaterThan(0)
  expect(presses.filter(({ closed }) => !closed), 'buttons that were open too soon').toEqual([])
}

/** A decision as another window would send it. */
async function decide(app: App, approvalId: string, digest: string): Promise<{ readonly ok: boolean; readonly error?: { readonly code: string } }> {
  return app.window.evaluate(async ([id, bytes]) => {
    const result = await window.countersign!.call('approval.decide', { commandId: `other-${crypto.randomUUID()}` as never, approvalId: id as never, digest: bytes as never, verdict: 'approved', reason: null })
    return result
  }, [approvalId, digest] as const)
}
