// `npm run demo`: runs the sample task without a person and without a display, prints each step, and leaves pictures and the audit export in dist/demo/.
import { runOnThePackage } from './on-the-package.ts'

process.exitCode = await runOnThePackage('demo.ts')
