import { test as base } from '@playwright/test'
import { App } from './app.ts'

/** `app`: the packaged app with a fresh account's empty state, closed after the test. */
export const test = base.extend<{ app: App }>({
  // eslint-disable-next-line no-empty-pattern -- Playwright reads the pattern to learn which fixtures are needed
  app: async ({}, use) => {
    const app = await App.launch()
    await use(app)
    await app.close()
  },
})

export { expect } from '@playwright/test'
