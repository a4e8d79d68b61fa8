import { beforeEach, describe, expect, it } from 'vitest'
import { openKeychain, type Keychain, type SafeStorage } from './keychain.ts'

/** Encrypts by turning the text around; a wrong keyring cannot read it back. */
function fakeStorage(backend: string | null, available = true, keyring = 'A'): SafeStorage {
  return {
    isEncryptionAvailable: () => available,
    ...(backend === null ? {} : { getSelectedStorageBackend: () => backend }),
    encryptString: (plain) => Buffer.from(keyring + [...plain].reverse().join('')),
    decryptString: (blob) => {
      if (!blob.toString().startsWith(keyring)) throw new Error('Error while decrypting the ciphertext')
      return [...blob.toString().slice(1)].reverse().join('')
    },
  }
}

let disk: Map<string, string>
let full: boolean
beforeEach(() => {
  disk = new Map()
  full = false
})
const files = {
  read: (path: string) => Promise.resolve(disk.get(path) ?? null),
  write: (path: string, text: string) => {
    if (full) return Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }))
    disk.set(path, text)
    return Promise.resolve()
  },
  setAside: (path: string) => {
    disk.set('aside', disk.get(path) ?? '')
    disk.delete(path)
    return Promise.resolve('aside')
  },
}
const open = (safeStorage: SafeStorage, env: Record<string, string> = {}): Promise<Keychain> => openKeychain({ path: 'keys.json', safeStorage, files, env, now: () => 7 })
const provider = { id: 'acme@models.example', keyEnv: 'ACME_KEY' }

describe('keychain', () => {
  it('stores a key that only the keyring can read, and finds it after a restart', async () => {
    const first = await open(fakeStorage('gnome_libsecret'))
    expect(await first.put(provider.id, 'secret-key')).toEqual({ ok: true, value: 'stored' })
    expect([...disk.values()].join('')).not.toContain('secret-key')
    const again = await open(fakeStorage('gnome_libsecret'))
    expect(again.secrets()).toEqual([])
    expect([again.state(provider), again.key(provider)]).toEqual(['stored', 'secret-key'])
    expect(again.secrets()).toEqual(['secret-key'])
  })

  it.each([{ backend: 'basic_text', available: true }, { backend: 'unknown', available: true }, { backend: 'gnome_libsecret', available: false }, { backend: null, available: false }])(
    'writes nothing without a real keyring ($backend, $available) and keeps the key for the session', async ({ backend, available }) => {
      const keychain = await open(fakeStorage(backend, available))
      expect(keychain.backend().real).toBe(false)
      expect(await keychain.put(provider.id, 'secret-key')).toEqual({ ok: true, value: 'session-only' })
      expect([keychain.state(provider), keychain.key(provider)]).toEqual(['session-only', 'secret-key'])
      expect(disk.size).toBe(0)
      expect((await open(fakeStorage(backend, available))).state(provider)).toBe('missing')
    })

  it('is real on systems that do not name a backend', async () => {
    expect((await open(fakeStorage(null))).backend()).toEqual({ real: true, backend: 'system' })
  })

  it('takes the environment\'s key when it has no other', async () => {
    const keychain = await open(fakeStorage('kwallet6'), { ACME_KEY: 'from-env' })
    expect([keychain.state(provider), keychain.key(provider), keychain.state({ id: 'other' })]).toEqual(['from-environment', 'from-env', 'missing'])
    expect(keychain.secrets()).toEqual(['from-env'])
    await keychain.put(provider.id, 'mine')
    expect([keychain.state(provider), keychain.key(provider)]).toEqual(['stored', 'mine'])
    await keychain.remove(provider.id)
    expect([keychain.state(provider), keychain.key(provider)]).toEqual(['from-environment', 'from-env'])
  })

  it('counts a key as missing that another keyring wrote, and takes it anew', async () => {
    await (await open(fakeStorage('kwallet6', true, 'A'))).put(provider.id, 'old')
    const keychain = await open(fakeStorage('kwallet6', true, 'B'))
    expect(keychain.state({ id: provider.id })).toBe('missing')
    await keychain.put(provider.id, 'new')
    expect(keychain.key(provider)).toBe('new')
  })

  it('keeps a broken file aside and says so', async () => {
    disk.set('keys.json', '{"version":1,"keys":{"a":')
    const keychain = await open(fakeStorage('kwallet6'))
    expect(keychain.problem()).toMatchObject({ code: 'settings-broken', message: expect.stringContaining('aside') })
    expect(disk.get('aside')).toBe('{"version":1,"keys":{"a":')
    expect(await keychain.put(provider.id, 'k')).toMatchObject({ value: 'stored' })
  })

  it('leaves the file of a newer version untouched and keeps keys for the session', async () => {
    const newer = '{"version":2,"vault":{}}'
    disk.set('keys.json', newer)
    const keychain = await open(fakeStorage('kwallet6'))
    expect(keychain.problem()).toMatchObject({ code: 'settings-broken' })
    expect(await keychain.put(provider.id, 'k')).toMatchObject({ value: 'session-only' })
    expect(disk.get('keys.json')).toBe(newer)
  })

  it('says that the disk is full and forgets nothing', async () => {
    const keychain = await open(fakeStorage('kwallet6'))
    await keychain.put(provider.id, 'old')
    full = true
    expect(await keychain.put(provider.id, 'new')).toMatchObject({ ok: false, error: { code: 'disk-full' } })
    expect(await keychain.remove(provider.id)).toMatchObject({ ok: false, error: { code: 'disk-full' } })
    expect(keychain.key(provider)).toBe('old')
  })

  it('loses no key when several are stored at once', async () => {
    const keychain = await open(fakeStorage('kwallet6'))
    await Promise.all(['a', 'b', 'c', 'd'].map((id) => keychain.put(id, `key of ${id}`)))
    const again = await open(fakeStorage('kwallet6'))
    expect(['a', 'b', 'c', 'd'].map((id) => again.key({ id }))).toEqual(['key of a', 'key of b', 'key of c', 'key of d'])
  })

  it('has no keys by the names of the prototype', async () => {
    const keychain = await open(fakeStorage('kwallet6'))
    expect(keychain.state({ id: 'constructor' })).toBe('missing')
  })
})
