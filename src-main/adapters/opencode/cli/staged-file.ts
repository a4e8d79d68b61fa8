import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

export interface Staged { readonly path: string; /** What stood there was not what the app wrote. */ readonly repaired: boolean }

/**
 * Puts `text` into the app's own `folder` under `name` and says where. What is there already is compared by its digest, never through a
 * link, and replaced in one step when it differs: whoever reads sees the whole of one or of the other. Throws what the file system throws.
 */
export async function stageFile(folder: string, name: string, text: string): Promise<Staged> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, name)
  const found = await digestOfFile(path, Buffer.byteLength(text))
  if (found === digestOf(Buffer.from(text))) return { path, repaired: false }
  // A folder in its place could not be replaced by a rename.
  if (found === 'no-file') await rm(path, { recursive: true, force: true })
  const next = join(folder, `.${name}.${randomBytes(6).toString('hex')}`)
  try {
    const file = await open(next, 'wx', 0o444)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(next, path)
  } catch (cause) {
    await rm(next, { force: true })
    throw cause
  }
  return { path, repaired: found !== 'absent' }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The digest of a plain file of about this size; `absent`, or `no-file` for a link, a folder or one that is too large to be ours. */
async function digestOfFile(path: string, bytesExpected: number): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return 'absent' as const
    return 'no-file' as const
  })
  if (typeof file === 'string') return file
  try {
    const facts = await file.stat()
    if (!facts.isFile() || facts.size !== bytesExpected) return facts.isFile() ? 'another size' : 'no-file'
    return digestOf(await file.readFile())
  } finally {
    await file.close()
  }
}
