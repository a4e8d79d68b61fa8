import { createPackage, extractAll } from '@electron/asar'
import { FuseV1Options, FuseVersion, flipFuses } from '@electron/fuses'
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Copies the unpacked app to `target`, turns on the one fuse by which a test driver can steer it, and puts `main` in the place of the main
 * process's bundles: the same sources with failpoints. All else is what ships. Files that are the same on both sides are clones where the
 * file system can.
 */
export async function copyInspectable(unpacked: string, target: string, main: string): Promise<void> {
  await rm(target, { recursive: true, force: true })
  await cp(unpacked, target, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  await flipFuses(join(target, 'countersign'), { version: FuseVersion.V1, [FuseV1Options.EnableNodeCliInspectArguments]: true })
  const archive = join(target, 'resources/app.asar')
  const content = `${archive}.content`
  extractAll(archive, content)
  await rm(join(content, 'out/main'), { recursive: true })
  await cp(main, join(content, 'out/main'), { recursive: true })
  await rm(archive)
  await createPackage(content, archive)
  await rm(content, { recursive: true })
}
