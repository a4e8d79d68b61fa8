import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

/** The tests of one area, as `mutation.ts` names them: a mutant is to be found by the tests beside it, not by the whole suite. */
const tests = (process.env['MUTATION_TESTS'] ?? '').split(',')

export default defineConfig({
  root: resolve(import.meta.dirname, '../../..'),
  test: { include: tests, maxWorkers: 1, testTimeout: 20_000, setupFiles: [resolve(import.meta.dirname, 'set-up.ts')] },
})
