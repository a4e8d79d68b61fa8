import { test as base } from '@playwright/test'
import { App } from './app.ts'
import { stubEntry } from './models.ts'
import { StubProvider } from './stubs/provider.ts'

/** `app`: the packaged app with a fresh account's empty state, closed after the test. `provider`: a scripted provider on loopback. */
export const test = base.extend<{ app: App; provider: StubProvider }>({
  // eslint-disable-next-line no-empty-pattern -- Playwright reads the pattern to learn which fixtures are needed
  app: async ({}, use) => {
    const app = await App.launch()
    await use(app)
    await app.close()
  },
  // eslint-disable-next-line no-empty-pattern -- as above
  provider: async ({}, use) => {
    const provider = await StubProvider.start()
    await use(provider)
    await provider.close()
  },
})

/** The same, with the scripted provider among the app's own. */
export const stubbed = test.extend({
  app: async ({ provider }, use) => {
    const app = await App.launch({ providers: [stubEntry(provider)] })
    await use(app)
    await app.close()
  },
})

export { expect } from '@playwright/test'
