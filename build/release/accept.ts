// `npm run release-accept`: unpacks or installs each package of this platform that lies in dist/, as a user would, and has Playwright drive it.
import { existsSync, readdirSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { closingLine } from '../checks/tally.ts'
import { exitCodeOf, run } from '../runtime/run-command.ts'
import { hasNoDisplay } from '../runtime/set-up.ts'
import { openVirtualScreen } from '../runtime/virtual-screen.ts'
import { hostTarget } from './target.ts'

const root = resolve(import.meta.dirname, '../..')
const dist = join(root, 'dist')

/** How to get from a package to something that starts; null: not one of these. `folder` is empty and removed afterwards. */
type Unpack = (file: string, folder: string) => Promise<{ readonly executable: string; readonly remove?: () => Promise<void> }>

const linux: readonly (readonly [RegExp, Unpack])[] = [
  [/\.tar\.gz$/, async (file, folder) => { await run('tar', ['xzf', file, '-C', folder, '--strip-components=1']); return { executable: join(folder, 'countersign') } }],
  // Without FUSE, which is not on every machine, an AppImage is unpacked by itself.
  [/\.AppImage$/, async (file, folder) => { await chmod(file, 0o755); await run(file, ['--appimage-extract'], { cwd: folder, output: 'quiet' }); return { executable: join(folder, 'squashfs-root/countersign') } }],
  [/\.rpm$/, async (file, folder) => { await run('sh', ['-c', 'rpm2cpio "$1" | cpio -idm --quiet', 'sh', file], { cwd: folder }); return { executable: join(folder, 'opt/Countersign/countersign') } }],
]
const mac: readonly (readonly [RegExp, Unpack])[] = [
  [/\.zip$/, async (file, folder) => { await run('ditto', ['-x', '-k', file, folder]); return signedMacApp(folder) }],
  [/\.dmg$/, async (file, folder) => {
    await run('hdiutil', ['attach', '-readonly', '-nobrowse', '-mountpoint', folder, file])
    return { ...await signedMacApp(folder), remove: () => run('hdiutil', ['detach', folder]) }
  }],
]
const windows: readonly (readonly [RegExp, Unpack])[] = [
  [new RegExp(`-${process.arch}\\.exe$`), async (file, folder) => {
    await run(file, ['/S', `/D=${folder}`])
    return { executable: join(folder, 'Countersign.exe'), remove: () => run(join(folder, 'Uninstall Countersign.exe'), ['/S', `_?=${folder}`]) }
  }],
]

async function signedMacApp(folder: string): Promise<{ readonly executable: string }> {
  const app = join(folder, 'Countersign.app')
  if ((process.env['CSC_LINK'] ?? '') !== '') {
    await run('codesign', ['--verify', '--deep', '--strict', app])
    await run('spctl', ['--assess', '--type', 'execute', app])
  }
  return { executable: join(app, 'Contents/MacOS/Countersign') }
}

async function tryOut(file: string, unpack: Unpack, display: string | undefined): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-accept-'))
  const { executable, remove } = await unpack(file, folder)
  try {
    if (!existsSync(executable)) throw new Error(`${file} holds no ${executable}`)
    const cli = join(root, 'node_modules/@playwright/test/cli.js')
    const env = { ...process.env, ...(display === undefined ? {} : { DISPLAY: display }), COUNTERSIGN_E2E_SHIPPED_APP: executable }
    return (await exitCodeOf(process.execPath, [cli, 'test', '--config', 'e2e/published.config.ts'], { cwd: root, env })) === 0
  } finally {
    await remove?.()
    await rm(folder, { recursive: true, force: true })
  }
}

async function accept(): Promise<number> {
  const { platform } = hostTarget()
  const ways = { linux, darwin: mac, win32: windows }[platform]
  const found = readdirSync(dist).flatMap((name) => ways.flatMap(([pattern, unpack]) => (pattern.test(name) ? [{ name, unpack }] : [])))
  const screen = hasNoDisplay() ? await openVirtualScreen() : null
  let failed = 0
  try {
    for (const { name, unpack } of found) {
      console.log(`\n── ${name}`)
      if (!await tryOut(join(dist, name), unpack, screen?.display)) failed += 1
    }
  } finally {
    await screen?.close()
  }
  console.log(`\n${closingLine({ passed: found.length - failed, failed, skipped: 0 })}`)
  return failed > 0 || found.length === 0 ? 1 : 0
}

process.exitCode = await accept()
