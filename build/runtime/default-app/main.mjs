// Stand-in for Electron's own default app, which the stand-in runtime lacks: `electron [switches] <folder | file>` or `--version`.
import { app } from 'electron/main'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [given] = process.argv.slice(1).filter((argument) => !argument.startsWith('-'))

if (process.argv.includes('--version')) {
  console.log(`v${process.versions.electron}`)
  process.exit(0)
}
if (given === undefined) {
  console.error('usage: electron <folder | file.js>')
  process.exit(1)
}

const path = resolve(given)
const manifestPath = join(path, 'package.json')
Object.defineProperty(process, 'defaultApp', { configurable: false, enumerable: true, value: true })
try {
  if (existsSync(manifestPath)) {
    const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'))
    if (manifest.version) app.setVersion(manifest.version)
    app.name = manifest.productName ?? manifest.name
  }
  const entry = createRequire(import.meta.url).resolve(path)
  app.setAppPath(existsSync(manifestPath) ? path : dirname(entry))
  await import(pathToFileURL(entry).toString())
} catch (error) {
  console.error('The app could not be loaded:', error)
  process.exit(1)
}
