import { chownSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The app under test runs as another account than the tests when those run as root (build/checks/other-account.ts); tests side by side each have one of their own. */
export function appUid(): number | null {
  const uid = process.env['COUNTERSIGN_E2E_UID']
  return uid === undefined ? null : Number(uid) + Number(process.env['TEST_PARALLEL_INDEX'] ?? 0)
}

/** Path of the executable to start; `shipped` is exactly what ships, `inspectable` differs from it in the inspect fuse and in its failpoints. */
export function appExecutable(kind: 'inspectable' | 'shipped'): string {
  const path = process.env[kind === 'shipped' ? 'COUNTERSIGN_E2E_SHIPPED_APP' : 'COUNTERSIGN_E2E_APP']
  if (path === undefined) throw new Error('start the end-to-end tests with npm run e2e')
  return path
}

/** A new empty folder that belongs to the app's account; the test removes it. */
export function newOwnerFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-owner-'))
  give(folder)
  return folder
}

/** Makes `name` inside `folder` and gives it to the app's account. */
export function subfolder(folder: string, name: string): string {
  const path = join(folder, name)
  mkdirSync(path, { recursive: true })
  give(path)
  return path
}

/**
 * The environment of an owner's fresh account in `home`, in English whatever this machine speaks: nothing of the tests' own environment but the screen and the path.
 */
export function ownerEnvironment(home: string): Record<string, string> {
  const kept = ['PATH', 'DISPLAY', 'TZ'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const uid = appUid()
  return { ...Object.fromEntries(kept), LANG: 'C.UTF-8', ...(uid === null ? {} : { COUNTERSIGN_E2E_ACCOUNT: String(uid) }), HOME: home, TMPDIR: subfolder(home, 'tmp') }
}

/** Gives a file or folder to the app's account. */
export function give(path: string): void {
  const uid = appUid()
  if (uid !== null) chownSync(path, uid, uid)
}
