import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { appUid, subfolder } from './owner-folder.ts'

/** The run has mounts of its own (build/checks/no-network.ts), so nothing of this is seen outside of it. @throws for others than root */
function mount(...args: string[]): void {
  if (process.getuid?.() !== 0) throw new Error('this test mounts a file system: run it as root, as CI does')
  execFileSync('mount', args, { stdio: 'pipe' })
}

/** A disk of its own for one installation. */
export interface SmallDisk {
  /** Writes a file that takes whatever is left, to the last block. */
  fill(): void
  /** Takes that file away. */
  free(): void
  unmount(): void
}

/** Mounts a disk of that size as the data folder of the installation in `ownerFolder`. */
export function smallDiskFor(ownerFolder: string, megabytes: number): SmallDisk {
  const folder = subfolder(ownerFolder, 'user-data')
  const owner = appUid() === null ? '' : `,uid=${appUid()},gid=${appUid()}`
  mount('-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700${owner}`, 'tmpfs', folder)
  const filler = join(folder, 'filler')
  return {
    fill: () => {
      try {
        const { bavail, bsize } = statfsSync(folder)
        writeFileSync(filler, Buffer.alloc(bavail * bsize + bsize))
      } catch (full) {
        if (!(full instanceof Error && 'code' in full && full.code === 'ENOSPC')) throw full
      }
    },
    free: () => { rmSync(filler) },
    unmount: () => { execFileSync('umount', ['--lazy', folder], { stdio: 'pipe' }) },
  }
}

/** Puts a script in the place of a program of the system, for this run only, until the returned function is called. */
export function replaceProgram(path: string, script: string, ownerFolder: string): () => void {
  const stand = join(ownerFolder, `stand-in-${readdirSync(ownerFolder).length}`)
  writeFileSync(stand, `#!/bin/sh\n${script}\n`)
  chmodSync(stand, 0o755)
  mount('--bind', stand, path)
  return () => { execFileSync('umount', [path], { stdio: 'pipe' }) }
}
