// `npm run deb-check`: installs the deb in a clean Debian, has an ordinary account run the sample task in it to accepted, and removes it again.
// With `--made` the deb that is there is taken. With Chromium's sandbox on and the shipped fuses. Needs root, debootstrap and (once a month) a Debian mirror; without them it fails and says so.
import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { existsSync } from 'node:fs'
import { electronRuntime } from '../runtime/electron.ts'
import { debName, outputFolder } from '../release/output.ts'
import { hostTarget } from '../release/target.ts'
import { run } from '../runtime/run-command.ts'
import { ensureSystemPackages } from '../runtime/system-packages.ts'
import { openVirtualScreen } from '../runtime/virtual-screen.ts'
import { cleanDebian, inDebian, inDebianCommand } from './debian-root.ts'
import { exitCodeWithoutNetwork } from './no-network.ts'
import { treeOf, traceOf } from './installed-trace.ts'

const root = resolve(import.meta.dirname, '../..')
const account = { name: 'owner', id: 23_456 } as const

/** The first alternative of each dependency that the deb names, as apt takes it. */
function dependencies(deb: string): readonly string[] {
  return execFileSync('dpkg-deb', ['--field', deb, 'Depends'], { encoding: 'utf8' }).split(',').map((one) => one.split('|')[0]?.trim().split(' ')[0] ?? '').filter((name) => name !== '')
}

async function check(): Promise<void> {
  await ensureSystemPackages(['display'])
  if (!process.argv.includes('--made')) await run('npm', ['run', '--silent', 'make', '--', 'deb'], { cwd: root, output: 'quiet' })
  const deb = join(outputFolder(await electronRuntime()), debName(hostTarget()))
  const debian = await cleanDebian(dependencies(deb))
  const scratch = await mkdtemp(join(tmpdir(), 'countersign-deb-check-'))
  await chmod(scratch, 0o755)
  try {
    await inDebian(debian, ['useradd', '--create-home', '--uid', String(account.id), account.name], { network: false })
    const before = treeOf(debian)
    await run('cp', [deb, join(debian, 'root/countersign.deb')])
    await inDebian(debian, ['dpkg', '--install', '/root/countersign.deb'], { network: false })
    await rm(join(debian, 'root/countersign.deb'))
    console.log('deb-check: installed with dpkg')
    await drive(debian, scratch)
    await inDebian(debian, ['dpkg', '--purge', 'countersign'], { network: false })
    // dpkg takes away a folder that nobody else has anything in, though it was there before.
    const trace = traceOf(before, treeOf(debian), `/home/${account.name}/`).filter((line) => line !== 'gone: /opt')
    if (trace.length > 0) throw new Error(`the removed package left:\n  ${trace.slice(0, 20).join('\n  ')}`)
    const kept = join(debian, `home/${account.name}/.config/Countersign/journal/journal.sqlite`)
    if (!existsSync(kept)) throw new Error('the account’s journal went with the package')
    console.log('deb-check: removed without a trace but the account’s data')
  } finally {
    await rm(debian, { recursive: true, force: true })
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Starts it the way the desktop would, by its name on the path, as the ordinary account; the spec steers it from outside. */
async function drive(debian: string, scratch: string): Promise<void> {
  const home = `/home/${account.name}`
  const change = ['setpriv', `--reuid=${account.id}`, `--regid=${account.id}`, '--clear-groups', 'env', '-i', `HOME=${home}`, 'PATH=/usr/bin:/bin', 'LANG=C.UTF-8', 'DISPLAY="$DISPLAY"']
  const launcher = join(scratch, 'launch')
  const quoted = inDebianCommand(debian, []).map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')
  await writeFile(launcher, `#!/bin/sh\nexec ${quoted} ${change.join(' ')} countersign "$@"\n`)
  await chmod(launcher, 0o755)
  const screen = await openVirtualScreen()
  try {
    const cli = join(root, 'node_modules/@playwright/test/cli.js')
    const env = { ...process.env, DISPLAY: screen.display, COUNTERSIGN_INSTALLED_APP: launcher, COUNTERSIGN_INSTALLED_UID: String(account.id), COUNTERSIGN_INSTALLED_HOME: join(debian, home) }
    const code = await exitCodeWithoutNetwork(process.execPath, [cli, 'test', '--config', 'e2e/installed.config.ts'], { cwd: root, env })
    if (code !== 0) throw new Error(`the installed app did not get the sample task to accepted (${code})`)
  } finally {
    await screen.close()
  }
}

async function main(): Promise<number> {
  try {
    await check()
    console.log('\n1 passed, 0 failed, 0 skipped')
    return 0
  } catch (error) {
    console.error(`deb-check: ${error instanceof Error ? error.message : String(error)}`)
    console.log('\n0 passed, 1 failed, 0 skipped')
    return 1
  }
}

process.exitCode = await main()
