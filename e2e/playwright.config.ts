import { defineConfig } from '@playwright/test'

export default defineConfig({
  testDir: 'packaged',
  testMatch: '**/*.spec.ts',
  outputDir: '../dist/e2e',
  // One app at a time: each starts a window, a coder and their children, and the smallest machine has two cores.
  workers: 1,
  fullyParallel: false,
  forbidOnly: true,
  retries: 0,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: [['list'], ['json', { outputFile: '../dist/reports/playwright.json' }]],
  use: { trace: 'retain-on-failure', screenshot: 'only-on-failure' },
})
