import { existsSync, statSync } from 'node:fs'
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** An account number that owns nothing on this machine, another one for each run: what a run leaves behind is its own. */
const strangerId = 30_000 + (process.pid % 20_000)

/** What the end-to-end tests start instead of the app's own executable. */
export interface Launcher {
  readonly executable: string
  /** The account that the app runs as, when it is not the one of the tests. Folders handed to the app must belong to it. */
  readonly uid: number | null
}

/**
 * Chromium does not sandbox root's windows, and what ships never says --no-sandbox. So root's tests start the app as a stranger:
 * through a script in `scratch` that changes the account, from a copy in `scratch` when the stranger cannot reach the original.
 * Anyone else starts the executable itself.
 */
export async function launcherFor(appFolder: string, scratch: string): Promise<Launcher> {
  const executable = join(appFolder, 'countersign')
  if (!existsSync(executable)) throw new Error(`${executable} is missing: run npm run package -- --inspectable`)
  if (process.getuid?.() !== 0) return { executable, uid: null }
  const reachable = isReachableByAnyone(appFolder) ? appFolder : await copyInto(appFolder, scratch)
  const script = join(scratch, 'launch')
  // Tests that run side by side have an account each: COUNTERSIGN_E2E_ACCOUNT (e2e/owner-folder.ts).
  const change = `account="\${COUNTERSIGN_E2E_ACCOUNT:-${strangerId}}"; unset COUNTERSIGN_E2E_ACCOUNT; exec setpriv --reuid "$account" --regid "$account" --clear-groups`
  await mkdir(scratch, { recursive: true })
  await writeFile(script, `#!/bin/sh\n${change} '${join(reachable, 'countersign')}' "$@"\n`)
  await chmod(script, 0o755)
  return { executable: script, uid: strangerId }
}

function isReachableByAnyone(path: string): boolean {
  if ((statSync(path).mode & 0o001) === 0) return false
  const parent = dirname(resolve(path))
  return parent === path || isReachableByAnyone(parent)
}

async function copyInto(appFolder: string, scratch: string): Promise<string> {
  const copy = join(scratch, 'app')
  await cp(appFolder, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}
