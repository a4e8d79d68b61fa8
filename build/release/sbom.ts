// `npm run sbom [-- FILE]`: the bill of materials (CycloneDX 1.5) of what ships: npm's own list of production packages, Electron, OpenCode and, on Linux, bubblewrap.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { bubblewrap, openCodeVersion } from '../runtime/pins.ts'
import { appVersion } from './version.ts'

const root = resolve(import.meta.dirname, '../..')
const target = resolve(process.argv[2] ?? `dist/countersign-${appVersion()}.cdx.json`)

interface Component { readonly type: string; readonly name: string; readonly version: string; readonly 'bom-ref'?: string; readonly purl?: string; readonly licenses?: readonly unknown[]; readonly properties?: readonly { readonly name: string; readonly value: string }[] }
interface Bill { readonly bomFormat: string; readonly specVersion: string; readonly components: readonly Component[]; readonly dependencies?: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[] }

function electronVersion(): string {
  const manifest = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { readonly devDependencies: Readonly<Record<string, string>> }
  return manifest.devDependencies['electron'] ?? ''
}

/**
 * From the lock file alone, so that it is the same on each machine. npm's own `--omit dev` leaves out what tools need too; so all is asked for,
 * and what only tools need goes by npm's own mark. Node and OpenCode in the optional dependencies are tools and a program of their own.
 */
function npmBill(): Bill {
  const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'], { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, shell: process.platform === 'win32' })
  const all = JSON.parse(text) as Bill
  const components = all.components.filter(({ name, properties = [] }) => !/^(node|opencode)-/.test(name) && !properties.some((property) => property.name === 'cdx:npm:package:development' && property.value === 'true'))
  const kept = new Set(components.map((component) => component['bom-ref']))
  const dependencies = (all.dependencies ?? []).filter(({ ref }) => kept.has(ref)).map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }))
  return { ...all, components, dependencies }
}

const programs: readonly Component[] = [
  { type: 'framework', name: 'electron', version: electronVersion(), 'bom-ref': `electron@${electronVersion()}`, purl: `pkg:npm/electron@${electronVersion()}`, licenses: [{ license: { id: 'MIT' } }] },
  { type: 'application', name: 'opencode', version: openCodeVersion, 'bom-ref': `opencode@${openCodeVersion}`, purl: `pkg:npm/opencode-ai@${openCodeVersion}`, licenses: [{ license: { id: 'MIT' } }] },
  { type: 'application', name: 'bubblewrap', version: bubblewrap.version, 'bom-ref': `bubblewrap@${bubblewrap.version}`, purl: `pkg:github/containers/bubblewrap@v${bubblewrap.version}`, licenses: [{ license: { id: 'LGPL-2.0-or-later' } }] },
]

const bill = npmBill()
const whole = { ...bill, components: [...bill.components, ...programs].sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1)) }
const names = new Set(whole.components.map(({ name }) => name))
const wanted = Object.keys((JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { readonly dependencies: Readonly<Record<string, string>> }).dependencies)
const missing = wanted.filter((name) => !names.has(name) && !names.has(name.split('/').at(-1) ?? ''))
if (missing.length > 0) throw new Error(`the bill of materials lacks ${missing.join(', ')}`)
mkdirSync(dirname(target), { recursive: true })
writeFileSync(target, `${JSON.stringify(whole, null, 2)}\n`)
console.log(`${target}: ${whole.components.length} components`)
