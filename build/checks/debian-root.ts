import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheFolder } from '../runtime/cache-folder.ts'
import { exitCodeOf, run } from '../runtime/run-command.ts'

const suite = 'bookworm'
/** Another mirror than debootstrap's own. */
const mirror = process.env['COUNTERSIGN_DEBIAN_MIRROR']
/** Raised when the steps below change, so that older trees in the cache are left alone. */
const recipe = 1
/** A tree in the cache is made anew after that, so that it does not stay behind its own security updates. */
const keptDays = 30

/** Why this account cannot have a clean Debian made; null where it can. */
export function whyNoDebian(): string | null {
  return process.getuid?.() === 0 ? null : 'a clean Debian is made with debootstrap, which needs root'
}

/**
 * A clean Debian, unpacked into a new folder that the caller removes: what debootstrap makes, and the packages that `needs` (a deb's Depends)
 * names, from Debian's own archive. The first time takes a minute or two; then it comes from an archive in the cache.
 * @throws with the reason when this machine cannot make one: no root, no debootstrap, no mirror
 */
export async function cleanDebian(needs: readonly string[]): Promise<string> {
  const why = whyNoDebian()
  if (why !== null) throw new Error(why)
  const key = createHash('sha256').update(JSON.stringify([suite, recipe, [...needs].sort()])).digest('hex').slice(0, 16)
  const archive = join(cacheFolder(), `debian-${suite}-${key}.tar`)
  if (!existsSync(archive) || ageDays(archive) > keptDays) await makeArchive(archive, needs)
  const root = await mkdtemp(join(tmpdir(), 'countersign-debian-'))
  await unpack(archive, root)
  return root
}

function ageDays(path: string): number {
  return (Date.now() - Number(execFileSync('stat', ['--format=%Y', path], { encoding: 'utf8' })) * 1_000) / 86_400_000
}

/** Debian's own minimum is kept apart from what a deb needs besides: that changes, and debootstrap takes the longest. */
async function makeArchive(archive: string, needs: readonly string[]): Promise<void> {
  await mkdir(cacheFolder(), { recursive: true })
  const base = join(cacheFolder(), `debian-${suite}-base-${recipe}.tar`)
  if (!existsSync(base) || ageDays(base) > keptDays) {
    if (!existsSync('/usr/sbin/debootstrap')) await installDebootstrap()
    console.log(`deb-check: making a clean Debian ${suite} (once every ${keptDays} days)`)
    await packed(base, (root) => run('debootstrap', ['--variant=minbase', suite, root, ...(mirror === undefined ? [] : [mirror])], { output: 'quiet' }))
  }
  console.log('deb-check: adding what the deb depends on')
  await packed(archive, async (root) => {
    await unpack(base, root)
    // No service of a package may start in there.
    writeFileSync(join(root, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 })
    await inDebian(root, ['apt-get', 'update', '-q'], { network: true })
    await inDebian(root, ['apt-get', 'install', '-y', '-q', '--no-install-recommends', 'fonts-dejavu-core', ...needs], { network: true })
    await inDebian(root, ['apt-get', 'clean'], { network: true })
  })
}

/** Has `fill` make a system in a new folder, and packs it. */
async function packed(archive: string, fill: (root: string) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'countersign-debootstrap-'))
  try {
    await fill(root)
    await run('tar', ['--create', '--numeric-owner', '--file', `${archive}.${process.pid}`, '--directory', root, '.'], { output: 'quiet' })
    await rename(`${archive}.${process.pid}`, archive)
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

async function unpack(archive: string, root: string): Promise<void> {
  await run('tar', ['--extract', '--numeric-owner', '--same-permissions', '--file', archive, '--directory', root], { output: 'quiet' })
  // The archive has the mode that a private temporary folder had.
  await chmod(root, 0o755)
}

async function installDebootstrap(): Promise<void> {
  if (!existsSync('/usr/bin/apt-get')) throw new Error('debootstrap is missing, and this is no Debian that could install it')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await run('apt-get', ['update', '-q'], { env, output: 'quiet' })
  await run('apt-get', ['install', '-y', '--no-install-recommends', 'debootstrap'], { env, output: 'quiet' })
}

/**
 * The command line that runs something in `root` as its own system: own mounts and processes, its root folder the real one (no chroot, in which
 * the kernel refuses user namespaces), nothing of this machine's but its devices, the temporary folder (with the screen's socket) and the
 * network, where `network` says so. Whatever is left when the command ends is killed with its process namespace.
 */
export function inDebianCommand(root: string, command: readonly string[]): readonly string[] {
  const script = [
    'set -e', 'mount --bind "$1" "$1"', 'cd "$1"', 'mount -t proc proc proc', 'mount --rbind /dev dev', 'mount --bind /tmp tmp', 'mkdir -p .host', 'pivot_root . .host',
    'cd /', 'umount -l /.host', 'rmdir /.host', 'shift', 'exec "$@"',
  ].join('\n')
  return ['unshare', '--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private', '--', 'sh', '-c', script, 'sh', root, ...command]
}

const environment = ['env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'LANG=C.UTF-8', 'DEBIAN_FRONTEND=noninteractive']

/** Runs a command as root in there. @throws when it ends with anything but 0 */
export async function inDebian(root: string, command: readonly string[], { network }: { readonly network: boolean }): Promise<void> {
  if (network) await run('cp', ['--dereference', '/etc/resolv.conf', '/etc/hosts', join(root, 'etc')])
  const [program, ...args] = inDebianCommand(root, [...environment, ...command])
  const code = await exitCodeOf(program ?? '', args, { output: 'quiet' })
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code} in the clean Debian`)
}
