import { existsSync, readFileSync, realpathSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'

// Source: linux/magic.h and statfs(2).
const networkMagics: ReadonlyMap<number, string> = new Map([
  [0x6969, 'nfs'], [0x517b, 'smb'], [0xff534d42, 'cifs'], [0xfe534d42, 'smb2'], [0x564c, 'ncp'], [0x5346414f, 'afs'], [0x6b414653, 'afs'],
  [0x73757245, 'coda'], [0x00c36400, 'ceph'], [0x0bd00bd0, 'lustre'], [0x01161970, 'gfs2'], [0x7461636f, 'ocfs2'], [0x786f4256, 'vboxsf'],
])
const fuseMagic = 0x65735546
const networkFuse = /^fuse\.(sshfs|rclone|s3fs|goofys|gcsfuse|blobfuse2?|davfs2?|curlftpfs|smbnetfs|glusterfs|ceph|juicefs|gvfsd-fuse|mount-s3|google-drive-ocamlfuse|onedriver|vmhgfs-fuse)$/

/** The kind of network file system by its magic number and, for FUSE, by the mount's type; null when it is local. */
export function networkKind(magic: number, mountType: string | null): string | null {
  const unsigned = magic >>> 0
  const known = networkMagics.get(unsigned)
  if (known !== undefined) return known
  if (unsigned === fuseMagic && mountType !== null && networkFuse.test(mountType)) return mountType
  return null
}

/** Type of the mount that holds `path`, from the text of /proc/self/mountinfo (proc(5)); null when none is listed. */
export function mountTypeOf(path: string, mountinfo: string): string | null {
  let best: { readonly length: number; readonly type: string } | null = null
  for (const line of mountinfo.split('\n')) {
    const [left, right] = line.split(' - ')
    const point = left?.split(' ')[4]?.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
    const type = right?.split(' ')[0]
    if (point === undefined || type === undefined) continue
    const holds = point === '/' || path === point || path.startsWith(`${point}/`)
    // Later lines cover earlier ones on the same mount point.
    if (holds && (best === null || point.length >= best.length)) best = { length: point.length, type }
  }
  return best?.type ?? null
}

/**
 * Kind of the network drive that `folder` (or, while it does not exist, its nearest existing parent) is on; null when local.
 * Linux by statfs, Windows by UNC path. macOS gives no stable numbers: not detected there.
 */
export function networkDriveOf(folder: string): string | null {
  if (process.platform === 'win32') return /^(\\\\|\/\/)(?![?.][\\/])/.test(folder) ? 'UNC path' : null
  if (process.platform !== 'linux') return null
  const real = realpathSync(nearestExisting(folder))
  return networkKind(statfsSync(real).type, mountTypeOf(real, readFileSync('/proc/self/mountinfo', 'utf8')))
}

/** `folder`, or while it does not exist its nearest parent that does. */
export function nearestExisting(folder: string): string {
  let current = folder
  while (!existsSync(current) && dirname(current) !== current) current = dirname(current)
  return current
}
