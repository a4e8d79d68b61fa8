import { join, resolve } from 'node:path'
import type { Target } from './target.ts'
import { appVersion } from './version.ts'

const dist = resolve(import.meta.dirname, '../../dist')

/** Where packages are left. Those around the stand-in runtime have a folder of that name: nobody takes one for a release. */
export function outputFolder(electron: { readonly standIn: boolean }): string {
  return electron.standIn ? join(dist, 'stand-in') : dist
}

/** The file name of a target's deb. */
export function debName({ arch }: Target): string {
  return `countersign_${appVersion()}_${arch === 'x64' ? 'amd64' : 'arm64'}.deb`
}
