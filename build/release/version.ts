import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

/** The app's version, as package.json has it. */
export function appVersion(): string {
  const manifest = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8')) as { readonly version: string }
  return manifest.version
}
