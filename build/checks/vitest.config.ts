import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: resolve(import.meta.dirname, '../..'),
  test: {
    include: ['src-*/**/*.test.{ts,tsx}', 'build/**/*.test.ts'],
    // Two cores are the smallest machine that the suite must pass on; adapter tests start real processes.
    maxWorkers: 2,
    testTimeout: 60_000,
    // Tests wait for facts. The default of one second is shorter than a loaded machine's pauses.
    expect: { poll: { timeout: 20_000 } },
  },
})
