// `npm run verify`: types, boundaries, unused code, lint, unit tests, build.
import { runAll, verifyRunners } from './runners.ts'

process.exitCode = await runAll(verifyRunners)
