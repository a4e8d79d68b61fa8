import { FuseV1Options, FuseVersion, flipFuses } from '@electron/fuses'
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Copies the unpacked app to `target` and turns on the one fuse by which a test driver can steer it. All else is what ships.
 * Files that are the same on both sides are clones where the file system can.
 */
export async function copyInspectable(unpacked: string, target: string): Promise<void> {
  await rm(target, { recursive: true, force: true })
  await cp(unpacked, target, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  await flipFuses(join(target, 'countersign'), { version: FuseVersion.V1, [FuseV1Options.EnableNodeCliInspectArguments]: true })
}
