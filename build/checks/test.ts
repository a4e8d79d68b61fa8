// `npm test`: everything that CI runs.
import { packagedRunners, runAll, verifyRunners } from './runners.ts'

process.exitCode = await runAll([...verifyRunners, ...packagedRunners])
