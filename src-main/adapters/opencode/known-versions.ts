import { open, realpath, stat } from 'node:fs/promises'
import { z } from 'zod'
import type { LogLine } from './observer.ts'
import { judgeVersion } from './version.ts'

/**
 * Which file it is, as the file system tells. No digest: reading 150 MB is what makes the first look slow. The system sets the change time (ctime)
 * with every change of content, name or rights, and lets no program set it, so that a file that was changed, replaced or put back is another one.
 */
export interface FileIdentity { readonly path: string; readonly inode: string; readonly bytes: string; readonly modifiedNs: string; readonly changedNs: string }

/** Versions that binaries have told, over restarts. Nothing of it ever fails: what cannot be read or written is asked again. */
export interface KnownVersions {
  of(file: FileIdentity): Promise<string | null>
  keep(file: FileIdentity, version: string): Promise<void>
  forget(file: FileIdentity): Promise<void>
}

export interface KnownVersionsDeps {
  readonly path: string
  /** The OpenCode that ships with the app, and the path of the note that its package brings of it. */
  readonly shipped: { readonly path: string; readonly notePath: string }
  readonly files: { read(path: string): Promise<string | null>; write(path: string, text: string): Promise<void> }
  readonly log: (line: LogLine) => void
}

/** The owner may go to and fro between a few. */
const keptMax = 4
const textCharsMax = 32_768

const number = z.string().regex(/^-?\d{1,24}$/)
const keptSchema = z.strictObject({
  format: z.literal(1),
  files: z.array(z.strictObject({ path: z.string().min(1).max(4_096), inode: number, bytes: number, modifiedNs: number, changedNs: number, version: z.string().max(40) })).max(keptMax),
})
const shippedSchema = z.strictObject({ version: z.string().max(40), bytes: z.number().int().positive() })
type Kept = z.infer<typeof keptSchema>['files'][number]

/** What stands at the end of the path, links followed; null where there is no file. */
export async function identify(binaryPath: string): Promise<FileIdentity | null> {
  try {
    const path = await realpath(binaryPath)
    const facts = await stat(path, { bigint: true })
    return facts.isFile() ? { path, inode: String(facts.ino), bytes: String(facts.size), modifiedNs: String(facts.mtimeNs), changedNs: String(facts.ctimeNs) } : null
  } catch (cause) {
    // Whatever the system says, nothing can be started there.
    if (cause instanceof Error && 'code' in cause) return null
    throw cause
  }
}

export function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  return one.path === other.path && one.inode === other.inode && one.bytes === other.bytes && one.modifiedNs === other.modifiedNs && one.changedNs === other.changedNs
}

/**
 * Keeps the versions of the last few binaries in one file, readable by the owner only. A file that is not as this app writes it counts as none.
 * Scripts are never kept: what they start may be another tomorrow. The OpenCode that ships with the app needs not be asked: its package says
 * what it is, as long as it has the bytes that the package says.
 */
export function createKnownVersions(deps: KnownVersionsDeps): KnownVersions {
  let loading: Promise<readonly Kept[]> | null = null
  let shippedTrusted = true
  let turn: Promise<unknown> = Promise.resolve()
  const all = (): Promise<readonly Kept[]> => (loading ??= load(deps))
  /** One change after the other, each on what the one before has left. */
  const change = (next: (kept: readonly Kept[]) => readonly Kept[] | Promise<readonly Kept[]>): Promise<void> => {
    const mine = turn.then(async () => {
      const before = await all()
      const after = await next(before)
      if (after === before) return
      loading = Promise.resolve(after)
      await save(deps, after)
    })
    turn = mine
    return mine
  }
  return {
    async of(file) {
      const version = (await all()).find((kept) => isSameFile(kept, file))?.version ?? (shippedTrusted ? await shippedVersion(deps, file) : null)
      // Judged anew: what an earlier app accepted may not do for this one.
      return version !== null && judgeVersion(version).ok ? version : null
    },
    keep: (file, version) => change(async (kept) => {
      if (!(await isProgram(file.path))) return kept
      return [{ ...file, version }, ...kept.filter(({ path }) => path !== file.path)].slice(0, keptMax)
    }),
    forget: (file) => change((kept) => {
      // Also of another binary: whatever did not work, asking once more is never wrong.
      shippedTrusted = false
      return kept.some(({ path }) => path === file.path) ? kept.filter(({ path }) => path !== file.path) : kept
    }),
  }
}

/** The version of the OpenCode that the app brought along, where `file` is that one; null where it is another or the package says nothing that fits. */
async function shippedVersion({ shipped, files, log }: KnownVersionsDeps, file: FileIdentity): Promise<string | null> {
  try {
    if ((await identify(shipped.path))?.path !== file.path) return null
    const text = await files.read(shipped.notePath)
    if (text === null) return null
    const note = shippedSchema.safeParse(JSON.parse(text))
    if (note.success) return String(note.data.bytes) === file.bytes ? note.data.version : null
    log({ level: 'warn', msg: 'the note of the OpenCode that came with the app is not as a package brings it and is not used' })
  } catch (cause) {
    log({ level: 'warn', msg: 'the note of the OpenCode that came with the app could not be read', cause: String(cause) })
  }
  return null
}

async function load({ path, files, log }: KnownVersionsDeps): Promise<readonly Kept[]> {
  try {
    const text = await files.read(path)
    if (text === null) return []
    const kept = text.length > textCharsMax ? null : keptSchema.safeParse(JSON.parse(text))
    if (kept?.success === true) return kept.data.files
    log({ level: 'warn', msg: 'the known versions of OpenCode are not as the app writes them and are not used' })
  } catch (cause) {
    log({ level: 'warn', msg: 'the known versions of OpenCode could not be read', cause: String(cause) })
  }
  return []
}

async function save({ path, files, log }: KnownVersionsDeps, kept: readonly Kept[]): Promise<void> {
  try {
    await files.write(path, `${JSON.stringify({ format: 1, files: kept }, null, 2)}\n`)
  } catch (cause) {
    log({ level: 'warn', msg: 'the known versions of OpenCode could not be saved', cause: String(cause) })
  }
}

/** The first bytes of programs that hold themselves whole: ELF, Mach-O (either order, and universal), Windows. */
const programMarks = ['7f454c46', 'cffaedfe', 'feedfacf', 'cafebabe', '4d5a'] as const

async function isProgram(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'r')
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
      const start = buffer.subarray(0, bytesRead).toString('hex')
      return programMarks.some((mark) => start.startsWith(mark))
    } finally {
      await file.close()
    }
  } catch (cause) {
    // One that may be run but not read is asked each time.
    if (cause instanceof Error && 'code' in cause) return false
    throw cause
  }
}
