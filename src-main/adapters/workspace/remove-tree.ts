import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Removes a folder with everything in it, absent ones too; links are removed, not followed. Done by the system's `rm`, which goes down step by step: it
 * takes paths longer than one call does, and keeps 100,000 removals out of our event loop. A coder may leave folders without permissions; those are opened first.
 * Throws when something stays.
 */
export async function removeTree(path: string): Promise<void> {
  if (process.platform === 'win32') return rm(path, { recursive: true, force: true })
  try {
    await run('rm', ['-rf', '--', path])
  } catch (error) {
    if (!(error instanceof Error)) throw error
    await run('chmod', ['-R', 'u+rwX', '--', path]).catch((reason: unknown) => {
      // chmod complains of what vanished meanwhile and goes on; rm has the last word.
      if (!(reason instanceof Error)) throw reason
    })
    await run('rm', ['-rf', '--', path])
  }
}

/**
 * Gives the owner back the right to read what a coder has closed: folders and files without `u+r`, never anything behind a link. Execute bits of
 * files stay as they are, since they count.
 */
export async function openTree(path: string): Promise<void> {
  if (process.platform === 'win32') return
  await run('find', ['-P', path, '-type', 'd', '!', '-perm', '-u+rwx', '-exec', 'chmod', 'u+rwx', '--', '{}', ';'])
  await run('find', ['-P', path, '-type', 'f', '!', '-perm', '-u+r', '-exec', 'chmod', 'u+r', '--', '{}', '+'])
}
