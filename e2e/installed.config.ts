import { defineConfig } from '@playwright/test'

/** Drives an app that is installed on the system: `npm run deb-check` here, the release workflow on each system with what it publishes. */
export default defineConfig({
  testDir: 'installed',
  outputDir: '../dist/installed',
  workers: 1,
  forbidOnly: true,
  timeout: 480_000,
  expect: { timeout: 30_000 },
  reporter: [['list']],
})
