import { defineConfig } from '@playwright/test'

/** Drives a package as it will be published, on its own system: `npm run release-accept`. */
export default defineConfig({ testDir: 'published', outputDir: '../dist/published', workers: 1, forbidOnly: true, timeout: 240_000, expect: { timeout: 30_000 }, reporter: [['list']] })
