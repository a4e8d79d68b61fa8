// `npm run build`: the bundles in out/, made anew if a source changed.
import { buildApp } from './build-app.ts'

await buildApp()
