// `npm run pictures`: makes the pictures of README and guide anew, docs/pictures/NAME-light.png and -dark.png, from the packaged app with the sample task.
import { runOnThePackage } from './on-the-package.ts'

process.exitCode = await runOnThePackage('pictures.ts')
