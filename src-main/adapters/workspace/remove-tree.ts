import { execFile } from 'node:child_process'
import { lstat, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { systemCode, unless } from './fault.ts'

const run = promisify(execFile)

/**
 * Removes a folder with everything in it; links are removed, not followed. What a coder left can have folders without permissions or paths
 * longer than the system takes in one call: then chmod and rm, which go down step by step, do the rest. Throws when something stays.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch (error) {
    if (systemCode(error) === null || process.platform === 'win32') throw error
    if ((await unless(['ENOENT'], lstat(path))) === null) return
    await run('chmod', ['-R', 'u+rwX', '--', path]).catch((reason: unknown) => {
      // chmod complains of what vanished or is a dangling link, and goes on; rm has the last word.
      if (!(reason instanceof Error)) throw reason
    })
    await run('rm', ['-rf', '--', path])
  }
}
