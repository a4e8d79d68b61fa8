import { z } from 'zod'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../src-preload/contract/result.ts'

/** What Electron's safeStorage offers, handed in. `getSelectedStorageBackend` exists on Linux only. */
export interface SafeStorage {
  isEncryptionAvailable(): boolean
  getSelectedStorageBackend?(): string
  encryptString(plain: string): Buffer
  decryptString(encrypted: Buffer): string
}

/** Reads and replaces small files; replaced files are readable by the owner only. */
export interface KeyFiles { read(path: string): Promise<string | null>; write(path: string, text: string): Promise<void>; setAside(path: string): Promise<string> }

export type KeyState = 'stored' | 'session-only' | 'from-environment' | 'missing'
interface KeyOwner { readonly id: string; readonly keyEnv?: string | undefined }

/** Providers' keys. They leave it only by `key` (for the proxy) and `secrets` (for redaction). */
export interface Keychain {
  /** `real`: the system keeps the encryption key. Otherwise nothing is stored and keys live until the app ends. */
  backend(): { readonly real: boolean; readonly backend: string }
  state(owner: KeyOwner): KeyState
  /** Order: given in this session, stored, the environment variable that `keyEnv` names. Null: none. */
  key(owner: KeyOwner): string | null
  /** Stores a key, or keeps it for this session where no real keyring is there. Failures: `disk-full`, `unavailable`. */
  put(id: string, key: string): Promise<Result<'stored' | 'session-only', Failure>>
  remove(id: string): Promise<Result<null, Failure>>
  /** All keys that are known in plain now, for the redactor. */
  secrets(): readonly string[]
  /** What was wrong with the key file when it was opened; null when nothing was. */
  problem(): Failure | null
}

const fileSchema = z.strictObject({ version: z.literal(1), keys: z.record(z.string(), z.strictObject({ blob: z.base64(), storedAt: z.number() })) })
type KeyFile = z.infer<typeof fileSchema>

export interface KeychainOptions {
  readonly path: string
  readonly safeStorage: SafeStorage
  readonly files: KeyFiles
  readonly env: Readonly<Record<string, string | undefined>>
  readonly now: () => number
}

/** Opens the key file. A broken one is set aside, never overwritten; one of a newer version is left alone and keys are session-only. */
export async function openKeychain(options: KeychainOptions): Promise<Keychain> {
  const opened = await load(options)
  return createKeychain(options, opened.file, opened.problem, opened.writable)
}

/** `basic_text` and `unknown` encrypt with a key that anybody has. */
function backendOf(safeStorage: SafeStorage): { readonly real: boolean; readonly backend: string } {
  const available = safeStorage.isEncryptionAvailable()
  const backend = safeStorage.getSelectedStorageBackend?.() ?? (available ? 'system' : 'none')
  return { real: available && backend !== 'basic_text' && backend !== 'unknown', backend }
}

/** The key file as it is now, replaced as a whole and one replacement after the other. */
interface HeldFile { readonly keys: () => KeyFile['keys']; readonly change: (next: (keys: KeyFile['keys']) => KeyFile['keys']) => Promise<Result<null, Failure>> }

function holdFile(files: KeyFiles, path: string, loaded: KeyFile): HeldFile {
  let file = loaded
  let writes: Promise<unknown> = Promise.resolve()
  return {
    keys: () => file.keys,
    change: (next) => {
      const turn = writes.then(async (): Promise<Result<null, Failure>> => {
        const changed: KeyFile = { version: 1, keys: next(file.keys) }
        const failed = await written(files, path, changed)
        if (failed !== null) return err(failed)
        file = changed
        return ok(null)
      })
      writes = turn
      return turn
    },
  }
}

function createKeychain({ path, safeStorage, files, env, now }: KeychainOptions, loaded: KeyFile, problem: Failure | null, writable: boolean): Keychain {
  const file = holdFile(files, path, loaded)
  const session = new Map<string, string>()
  const decrypted = new Map<string, string>()
  const used = new Map<string, string>()

  const stored = (id: string): string | null => {
    const known = decrypted.get(id)
    const entry = Object.hasOwn(file.keys(), id) ? file.keys()[id] : undefined
    if (known !== undefined || entry === undefined || !backendOf(safeStorage).real) return known ?? null
    const plain = decrypt(safeStorage, entry.blob)
    if (plain !== null) decrypted.set(id, plain)
    return plain
  }
  const fromEnvironment = (owner: KeyOwner): string | null => {
    const key = owner.keyEnv === undefined ? undefined : env[owner.keyEnv]
    if (key === undefined || key === '') return null
    used.set(owner.id, key)
    return key
  }

  return {
    backend: () => backendOf(safeStorage),
    problem: () => problem,
    key: (owner) => session.get(owner.id) ?? stored(owner.id) ?? fromEnvironment(owner),
    state: (owner) => {
      if (session.has(owner.id)) return 'session-only'
      if (stored(owner.id) !== null) return 'stored'
      return fromEnvironment(owner) === null ? 'missing' : 'from-environment'
    },
    put: async (id, key) => {
      if (!backendOf(safeStorage).real || !writable) {
        session.set(id, key)
        return ok('session-only')
      }
      const blob = safeStorage.encryptString(key).toString('base64')
      const saved = await file.change((keys) => ({ ...keys, [id]: { blob, storedAt: now() } }))
      if (!saved.ok) return saved
      decrypted.set(id, key)
      session.delete(id)
      return ok('stored')
    },
    remove: async (id) => {
      session.delete(id)
      if (!Object.hasOwn(file.keys(), id)) return ok(null)
      const saved = await file.change(({ [id]: _, ...keys }) => keys)
      if (saved.ok) decrypted.delete(id)
      return saved
    },
    secrets: () => [...new Set([...session.values(), ...decrypted.values(), ...used.values()])],
  }
}

/** Null when the keyring was replaced or is locked: the key then counts as missing and the window asks for it again. */
function decrypt(safeStorage: SafeStorage, blob: string): string | null {
  try {
    return safeStorage.decryptString(Buffer.from(blob, 'base64'))
  } catch (refused) {
    if (refused instanceof Error) return null
    throw refused
  }
}

async function load({ path, files }: KeychainOptions): Promise<{ readonly file: KeyFile; readonly problem: Failure | null; readonly writable: boolean }> {
  const empty: KeyFile = { version: 1, keys: {} }
  const text = await files.read(path)
  if (text === null) return { file: empty, problem: null, writable: true }
  const parsed = parse(text)
  const checked = fileSchema.safeParse(parsed)
  if (checked.success) return { file: checked.data, problem: null, writable: true }
  if (typeof parsed === 'object' && parsed !== null && 'version' in parsed && typeof parsed.version === 'number' && parsed.version > 1) {
    const problem = failure('settings-broken', `The stored keys were written by a newer version of the app and were not touched: ${path}`, 'Keys that you enter now are kept until the app ends. Install the newer version to use the stored ones.')
    return { file: empty, problem, writable: false }
  }
  const aside = await files.setAside(path)
  return { file: empty, problem: failure('settings-broken', `The file of stored keys could not be read. It was kept as ${aside}`, 'Enter the keys again in Settings.'), writable: true }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (notJson) {
    if (notJson instanceof SyntaxError) return undefined
    throw notJson
  }
}

async function written(files: KeyFiles, path: string, file: KeyFile): Promise<Failure | null> {
  try {
    await files.write(path, `${JSON.stringify(file, null, 2)}\n`)
    return null
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') throw error
    if (error.code === 'ENOSPC' || error.code === 'EDQUOT') return failure('disk-full', `The keys could not be saved, the disk is full: ${path}`, 'Free some space and try again.')
    return failure('unavailable', `The keys could not be saved (${error.code}): ${path}`, 'Make the folder writable and try again.')
  }
}
