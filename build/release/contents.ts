import { listPackage } from '@electron/asar'
import { FuseState, FuseV1Options, getCurrentFuseWire } from '@electron/fuses'
import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, openSync, readdirSync, readSync, closeSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { bubblewrap } from '../runtime/pins.ts'
import { openCodeName } from '../runtime/opencode-binary.ts'
import { shippedFuses } from './builder-config.ts'
import { processorsOf } from './executable-kind.ts'
import type { Target } from './target.ts'

const root = resolve(import.meta.dirname, '../..')

/** At most so much more than what nobody can leave out: Electron and OpenCode. */
const sizeRatioMax = 1.15
/** What may stand beside the asar; the last three are electron-builder's own, in installed packages. */
const besideTheAsar = new Set(['app.asar', 'native', 'opencode', 'licences', 'sample', 'bwrap', 'verify-export.mjs', 'apparmor-profile', 'app-update.yml', 'package-type'])

/** Where electron-builder leaves the unpacked app of a target. */
export function unpackedApp({ platform, arch }: Target): string {
  const suffix = arch === 'x64' ? '' : `-${arch}`
  if (platform === 'darwin') return join(root, `dist/mac${suffix}/Countersign.app`)
  return join(root, platform === 'win32' ? `dist/win${suffix}-unpacked` : `dist/linux${suffix}-unpacked`)
}

function placesIn(app: string, platform: Target['platform']): { readonly executable: string; readonly resources: string } {
  if (platform === 'darwin') return { executable: join(app, 'Contents/MacOS/Countersign'), resources: join(app, 'Contents/Resources') }
  return { executable: join(app, platform === 'win32' ? 'Countersign.exe' : 'countersign'), resources: join(app, 'resources') }
}

/**
 * Holds an unpacked app against what a package promises: each part is there and of the right processor, nothing else is, the fuses are the
 * shipped ones, the size keeps its budget. Prints the table of sizes and leaves it in dist/package-contents.json.
 * @throws with every promise that is broken
 */
export async function checkContents(app: string, target: Target): Promise<void> {
  const { executable, resources } = placesIn(app, target.platform)
  const broken = [...await brokenFuses(executable), ...missingParts(resources, target), ...strangers(resources, target.platform), ...brokenBubblewrap(resources, target)]
  const sizes = sizesOf(app, resources)
  const ratio = sizes.total / (sizes.electron + sizes.openCode)
  if (ratio > sizeRatioMax) broken.push(`${mb(sizes.total)} MB is ${ratio.toFixed(3)} × Electron and OpenCode; the budget is ${sizeRatioMax} ×`)
  printSizes(sizes, ratio)
  writeFileSync(join(root, 'dist/package-contents.json'), `${JSON.stringify({ app: relative(root, app), target, bytes: sizes, ratio, ratioMax: sizeRatioMax, fuses: shippedFuses, standIn: existsSync(join(dirname(executable), 'countersign-stand-in')) }, null, 2)}\n`)
  if (broken.length > 0) throw new Error(`${app} is not what ships:\n  ${broken.join('\n  ')}`)
}

async function brokenFuses(executable: string): Promise<string[]> {
  const wire = await getCurrentFuseWire(executable)
  return Object.entries(shippedFuses).flatMap(([name, on]) => {
    const option = FuseV1Options[`${name.slice(0, 1).toUpperCase()}${name.slice(1)}` as keyof typeof FuseV1Options]
    const found: unknown = (wire as unknown as Record<number, unknown>)[option]
    return found === (on ? FuseState.ENABLE : FuseState.DISABLE) ? [] : [`the fuse ${name} reads ${String(found)}`]
  })
}

function missingParts(resources: string, { platform, arch }: Target): string[] {
  const programs = ['native/better_sqlite3.node', `opencode/${openCodeName(platform)}`]
  const texts = ['licences/LICENSE.txt', 'licences/THIRD-PARTY.txt', 'sample/task.json', 'app.asar']
  return [
    ...[...programs, ...texts].filter((name) => !existsSync(join(resources, name))).map((name) => `resources/${name} is missing`),
    ...programs.filter((name) => existsSync(join(resources, name))).flatMap((name) => {
      const found = processorsOf(head(join(resources, name)))
      return found.includes(`${platform}-${arch}`) ? [] : [`resources/${name} is for ${found.join(' and ') || 'nothing known'}, not ${platform}-${arch}`]
    }),
  ]
}

/** A bwrap that comes along is of the right processor, says its version, and has its licence and source beside it. */
function brokenBubblewrap(resources: string, { platform, arch }: Target): string[] {
  const folder = join(resources, 'bwrap')
  if (!existsSync(folder)) return []
  const [program, archive] = [join(folder, 'bwrap'), `bubblewrap-${bubblewrap.version}.tar.xz`]
  const strange = readdirSync(folder).sort().join(' ') === ['COPYING', archive, 'bwrap'].sort().join(' ') ? [] : [`resources/bwrap holds ${readdirSync(folder).join(', ')}`]
  if (!processorsOf(head(program)).includes(`${platform}-${arch}`)) return [...strange, `resources/bwrap/bwrap is not for ${platform}-${arch}`]
  const said = platform === process.platform && arch === process.arch ? execFileSync(program, ['--version'], { encoding: 'utf8' }).trim() : `bubblewrap ${bubblewrap.version}`
  return said === `bubblewrap ${bubblewrap.version}` ? strange : [...strange, `resources/bwrap/bwrap says ${said}`]
}

/** Whatever is in the package and has no business there: sources, tests, maps, default apps. */
function strangers(resources: string, platform: Target['platform']): string[] {
  const beside = readdirSync(resources).filter((name) => !besideTheAsar.has(name) && !(platform === 'darwin' && /\.(lproj|icns)$/.test(name)))
  const packed = listPackage(join(resources, 'app.asar'), { isPack: false }).map((path) => path.replaceAll('\\', '/'))
  const inside = packed.filter((path) => !/^\/(out(\/.*)?|package\.json)$/.test(path) || /\.(tsx?|map|spec\.|test\.)/.test(path))
  return [...beside.map((name) => `resources/${name} does not belong there`), ...inside.slice(0, 20).map((path) => `app.asar holds ${path}`)]
}

interface Sizes { readonly total: number; readonly electron: number; readonly openCode: number; readonly app: number; readonly sqlite: number; readonly licences: number; readonly sample: number; readonly bubblewrap: number }

function sizesOf(app: string, resources: string): Sizes {
  const [total, openCode, asar, sqlite, licences, sample, bwrap] = [bytesIn(app), ...['opencode', 'app.asar', 'native', 'licences', 'sample', 'bwrap'].map((name) => bytesIn(join(resources, name)))] as [number, number, number, number, number, number, number]
  return { total, electron: total - openCode - asar - sqlite - licences - sample - bwrap, openCode, app: asar, sqlite, licences, sample, bubblewrap: bwrap }
}

function printSizes(sizes: Sizes, ratio: number): void {
  const words: readonly (readonly [string, number])[] = [['Electron', sizes.electron], ['OpenCode', sizes.openCode], ['the app (app.asar)', sizes.app], ['SQLite addon', sizes.sqlite], ['licences', sizes.licences], ['sample task', sizes.sample], ['bubblewrap', sizes.bubblewrap], ['together', sizes.total]]
  for (const [what, bytes] of words) console.log(`${what.padEnd(20)} ${mb(bytes).padStart(7)} MB`)
  console.log(`${ratio.toFixed(3)} × Electron and OpenCode (budget ${sizeRatioMax} ×)`)
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}

/** Links count as nothing: what they lead to is counted where it is. */
function bytesIn(path: string): number {
  if (!existsSync(path)) return 0
  const found = lstatSync(path)
  if (found.isDirectory()) return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0)
  return found.isFile() ? found.size : 0
}

const headBytes = 4_096

function head(path: string): Buffer {
  const bytes = Buffer.alloc(headBytes)
  const file = openSync(path, 'r')
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, headBytes, 0))
  } finally {
    closeSync(file)
  }
}
