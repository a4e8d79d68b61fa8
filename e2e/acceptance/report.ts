import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { arch, cpus, loadavg, platform, release } from 'node:os'
import { join, resolve } from 'node:path'
import type { App } from '../app.ts'

export const acceptanceFolder = resolve(import.meta.dirname, '../../dist/acceptance')

/** What `npm run acceptance` hands to the cases. */
interface Setting { readonly runtimes: readonly { readonly version: string; readonly path: string; readonly note: string | null }[]; readonly share: boolean }

/** The OpenCodes to run on; with `share`, cases that need one only get the one that ships. */
export const setting: Setting = (() => {
  const given = process.env['COUNTERSIGN_ACCEPTANCE']
  if (given === undefined) throw new Error('start these tests with npm run acceptance')
  return JSON.parse(given) as Setting
})()

/** What ships, in the list of those to run on. */
const shippedVersion = '1.18.30'

/** Whether it is the one that ships. */
export function isShipped({ version }: Setting['runtimes'][number]): boolean {
  return version === shippedVersion
}

/** All of them, or in a share the shipped one. */
export function runtimesOfOne(): Setting['runtimes'] {
  return setting.share ? setting.runtimes.filter(isShipped) : setting.runtimes
}

export interface FileComparison { readonly path: string; readonly expectedBytes: number; readonly actualBytes: number | null; readonly expectedSha256: string; readonly actualSha256: string | null; readonly same: boolean }

/** Compares a file on disk with the text that it must hold, byte by byte. */
export function compareFile(path: string, shown: string, expected: string): FileComparison {
  const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
  const wanted = Buffer.from(expected)
  const found = existsSync(path) ? readFileSync(path) : null
  return { path: shown, expectedBytes: wanted.length, actualBytes: found?.length ?? null, expectedSha256: sha256(wanted), actualSha256: found === null ? null : sha256(found), same: found?.equals(wanted) === true }
}

/** Versions of everything that took part. */
export async function versionsOf(app: App): Promise<Record<string, unknown>> {
  const { versions, runtimeNote } = await app.call('app.info', {})
  return { ...versions, runtimeNote, platform: `${platform()} ${release()} ${arch()}`, cores: cpus().length, load: loadavg()[0] }
}

/** Leaves `dist/acceptance/NAME.json`. */
export function leaveReport(name: string, report: Readonly<Record<string, unknown>>): void {
  mkdirSync(acceptanceFolder, { recursive: true })
  writeFileSync(join(acceptanceFolder, `${name}.json`), `${JSON.stringify({ case: name, ...report }, null, 2)}\n`)
}
