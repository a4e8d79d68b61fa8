import { defineConfig } from '@playwright/test'

/** `npm run acceptance` starts both projects, one after the other. */
export default defineConfig({
  testDir: './acceptance',
  fullyParallel: true,
  forbidOnly: true,
  retries: 0,
  // Starts take turns, and a busy machine is slow at each.
  timeout: 600_000,
  workers: 4,
  expect: { timeout: 30_000 },
  reporter: [['list'], ['json']],
  use: { trace: 'off', screenshot: 'only-on-failure' },
  projects: [
    // Each app stands still most of the time, so several do at once.
    { name: 'together', testMatch: ['held.accept.ts', 'version.accept.ts'], workers: 4, outputDir: '../dist/acceptance-traces/together' },
    // A folder of its own: the runner empties it first, and the other project's failures are still to be read.
    { name: 'alone', testMatch: ['no-network.accept.ts', 'in-a-row.accept.ts'], workers: 1, outputDir: '../dist/acceptance-traces/alone' },
  ],
})
