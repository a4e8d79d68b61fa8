import { expect, test } from '../fixtures.ts'

const served = (): Promise<string> => fetch(location.href).then((answer) => answer.text())

test('what is pressed on the first screen before the window\'s code is there is done once it is, and once', async ({ app }) => {
  await app.window.addInitScript(() => {
    // The page's first script has run by then, and waits for the picture before it asks for the rest.
    addEventListener('DOMContentLoaded', () => {
      const button = [...document.querySelectorAll('button')].find(({ textContent }) => textContent.includes('Run the sample task'))
      const isAnswered = button !== undefined && Object.keys(button).some((key) => key.startsWith('__react'))
      Object.assign(globalThis, { pressed: button === undefined ? 'nothing' : isAnswered ? 'late' : 'early' })
      button?.click()
      button?.click()
    })
  })
  await app.window.reload()
  await expect(app.room.hold('brief')).toBeVisible({ timeout: 60_000 })
  expect(await app.window.evaluate(() => (globalThis as unknown as { pressed: string }).pressed)).toBe('early')
  await expect(app.window.getByRole('option')).toHaveCount(1)
  expect(app.windowErrors).toEqual([])
  expect(await app.window.evaluate(served), 'somebody with a task gets no first screen').not.toContain('Run the sample task')
})

test('a key combination that comes before the window\'s code is kept, too', async ({ app }) => {
  await app.window.addInitScript(() => {
    addEventListener('DOMContentLoaded', () => { document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'n', code: 'KeyN', ctrlKey: true, bubbles: true })) })
  })
  await app.window.reload()
  await expect(app.window.locator('main[data-screen="new-task"]')).toBeVisible()
  expect(app.windowErrors).toEqual([])
})

test('the first screen comes with the page, in the looks that the owner chose', async ({ app }) => {
  expect(await app.window.evaluate(served)).toMatch(/<html lang="en">.*Run the sample task/s)
  const settings = await app.call('settings.get', {})
  await app.call('settings.put', { ...settings, appearance: { theme: 'dark', density: 'compact', language: 'de' } })
  expect(await app.window.evaluate(served)).toMatch(/<html lang="de" data-theme="dark" data-density="compact">.*Beispielaufgabe starten/s)
  await app.window.reload()
  await expect(app.window.getByRole('button', { name: 'Beispielaufgabe starten' })).toBeVisible()
  await expect(app.window.locator('html')).toHaveAttribute('data-theme', 'dark')
  expect(app.windowErrors).toEqual([])
})
