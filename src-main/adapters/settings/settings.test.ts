import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { settingsSchema, type Provider } from '../../../src-preload/contract/settings.ts'
import { defaultSettings, demoProvider } from './defaults.ts'
import { isLoopback } from './loopback.ts'
import { createModelDirectory, type ProviderKeys } from './model-directory.ts'
import { loadProvidersFile } from './providers-file.ts'
import { openSettings, type SettingsFiles } from './settings-store.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'settings-'))
  path = join(folder, 'settings.json')
})
afterEach(() => { rmSync(folder, { recursive: true, force: true }) })

const files: SettingsFiles = {
  read: (from) => Promise.resolve(readdirSync(folder).includes(from.slice(folder.length + 1)) ? readFileSync(from, 'utf8') : null),
  write: (to, text) => writeFile(to, text),
  setAside: async (from) => {
    const aside = join(folder, `settings.broken-${readdirSync(folder).length}.json`)
    await rename(from, aside)
    return aside
  },
}
const machineBytes = 8 * 1024 ** 3
const acme: Provider = { id: 'acme', label: 'Acme', baseUrl: 'https://models.example/v1', api: 'chat', models: [{ id: 'large' }], keyEnv: 'ACME_KEY' }
const local: Provider = { id: 'local', label: 'Local', baseUrl: 'http://127.0.0.1:11434/v1', api: 'chat', models: [{ id: 'small', contextTokens: 8_000, outputTokens: 2_000 }] }

describe('settings', () => {
  it('begin with defaults that fit the contract, and write nothing by themselves', async () => {
    const store = await openSettings(path, files, machineBytes)
    expect(settingsSchema.parse(store.get())).toEqual(defaultSettings)
    expect(store.problem()).toBe(null)
    expect(readdirSync(folder)).toEqual([])
  })

  it('are found again after a restart', async () => {
    const changed = { ...defaultSettings, providers: [acme], appearance: { theme: 'dark' as const, density: 'compact' as const } }
    expect((await (await openSettings(path, files, machineBytes)).put(changed)).ok).toBe(true)
    expect((await openSettings(path, files, machineBytes)).get()).toEqual(changed)
  })

  describe('of a sandbox\'s limits', () => {
    const gib = 1024 ** 3
    const put = async (change: Partial<typeof defaultSettings.sandboxLimits>, start = defaultSettings) => (await openSettings(path, files, machineBytes)).put({ ...start, sandboxLimits: { ...start.sandboxLimits, ...change } })

    it('are kept as the owner set them', async () => {
      expect(await put({ memoryBytesMax: 8 * gib, processesMax: 128, commandCpuMsMax: 60_000, fileBytesMax: 64 * 1024 ** 2 })).toEqual({ ok: true, value: null })
      expect((await openSettings(path, files, machineBytes)).get().sandboxLimits).toEqual({ memoryBytesMax: 8 * gib, processesMax: 128, commandCpuMsMax: 60_000, fileBytesMax: 64 * 1024 ** 2 })
    })

    it('are defaults in a file from before they could be set', async () => {
      const { sandboxLimits, ...older } = defaultSettings
      writeFileSync(path, JSON.stringify(older))
      expect((await openSettings(path, files, machineBytes)).get().sandboxLimits).toEqual(sandboxLimits)
    })

    it.each([
      [{ memoryBytesMax: gib - 1024 ** 2 }, 'sandboxLimits.memoryBytesMax: from 1024 to 262144 MiB'], [{ memoryBytesMax: 2 * gib + 1 }, 'sandboxLimits.memoryBytesMax: whole MiB'], [{ processesMax: 127 }, 'sandboxLimits.processesMax: from 128 to 8192 processes'],
      [{ processesMax: 8_193 }, 'from 128 to 8192 processes'], [{ processesMax: 200.5 }, 'from 128 to 8192 processes'], [{ commandCpuMsMax: 0 }, 'sandboxLimits.commandCpuMsMax: from 1 to 480 minutes'], [{ fileBytesMax: 1024 ** 2 }, 'sandboxLimits.fileBytesMax: from 64 to 262144 MiB'],
      [{ memoryBytesMax: 9 * gib }, 'This machine has 8192 MiB of memory; a sandbox cannot be given 9216 MiB.'],
    ])('refuse %j with the bound in words, and change nothing', async (change, told) => {
      expect(await put(change)).toMatchObject({ ok: false, error: { code: 'invalid-input', message: expect.stringContaining(told) as string } })
      expect(readdirSync(folder)).toEqual([])
    })

    it('from a larger machine do not keep the owner from changing something else', async () => {
      writeFileSync(path, JSON.stringify({ ...defaultSettings, sandboxLimits: { ...defaultSettings.sandboxLimits, memoryBytesMax: 64 * gib } }))
      const store = await openSettings(path, files, machineBytes)
      expect((await store.put({ ...store.get(), updates: 'notify' })).ok).toBe(true)
      expect(store.get().sandboxLimits.memoryBytesMax).toBe(64 * gib)
    })
  })

  it.each([{ name: 'no JSON', text: '{"version":1,' }, { name: 'an empty file', text: '' }, { name: 'a wrong type', text: JSON.stringify({ ...defaultSettings, updates: 'sometimes' }) }, { name: 'a provider twice', text: JSON.stringify({ ...defaultSettings, providers: [acme, acme] }) }])(
    'that are broken ($name) are kept aside, defaults are used, and it is told', async ({ text }) => {
      writeFileSync(path, text)
      const store = await openSettings(path, files, machineBytes)
      expect(store.get()).toEqual(defaultSettings)
      const [aside] = readdirSync(folder)
      expect(readFileSync(join(folder, aside ?? ''), 'utf8')).toBe(text)
      expect(store.problem()).toMatchObject({ code: 'settings-broken', message: expect.stringContaining(aside ?? '') })
      expect((await store.put(defaultSettings)).ok).toBe(true)
      expect(readdirSync(folder).sort()).toEqual([aside, 'settings.json'].sort())
    })

  it('of a newer app are left alone and never saved over', async () => {
    const newer = JSON.stringify({ version: 2, novelty: true })
    writeFileSync(path, newer)
    const store = await openSettings(path, files, machineBytes)
    expect(store.problem()).toMatchObject({ code: 'settings-broken' })
    expect(await store.put(defaultSettings)).toMatchObject({ ok: false, error: { code: 'settings-broken' } })
    expect(readFileSync(path, 'utf8')).toBe(newer)
    expect(readdirSync(folder)).toEqual(['settings.json'])
  })

  it('of an earlier format are brought to this one, and the file changes with the first save only', async () => {
    const { updates: _, ...older } = { ...defaultSettings, version: 0, news: 'notify' }
    writeFileSync(path, JSON.stringify(older))
    const renamed = { from: 0, up: ({ news, ...rest }: Readonly<Record<string, unknown>>) => ({ ...rest, updates: news }) }
    const store = await openSettings(path, files, machineBytes, [renamed])
    expect([store.get(), store.problem()]).toEqual([{ ...defaultSettings, updates: 'notify' }, null])
    expect(readFileSync(path, 'utf8')).toBe(JSON.stringify(older))
    await store.put(store.get())
    expect((await openSettings(path, files, machineBytes)).get()).toEqual({ ...defaultSettings, updates: 'notify' })
  })

  it('that a step fails on are left alone and never saved over, and it is told why', async () => {
    const older = JSON.stringify({ ...defaultSettings, version: 0 })
    writeFileSync(path, older)
    const store = await openSettings(path, files, machineBytes, [{ from: 0, up: () => { throw new Error('the step has a bug') } }])
    expect(store.get()).toEqual(defaultSettings)
    expect(store.problem()).toMatchObject({ code: 'settings-broken', message: expect.stringMatching(/format 0.*the step has a bug.*not touched/) as string })
    expect(await store.put(defaultSettings)).toMatchObject({ ok: false, error: { code: 'settings-broken' } })
    expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual([older, [basename(path)]])
  })

  it('that could not be saved are not used', async () => {
    const store = await openSettings(path, { ...files, write: () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })) }, machineBytes)
    expect(await store.put({ ...defaultSettings, updates: 'notify' })).toMatchObject({ ok: false, error: { code: 'disk-full' } })
    expect(store.get().updates).toBe(defaultSettings.updates)
  })

  it('refuse the demo\'s id and an id twice', async () => {
    const store = await openSettings(path, files, machineBytes)
    expect(await store.put({ ...defaultSettings, providers: [{ ...acme, id: 'demo' }] })).toMatchObject({ ok: false, error: { code: 'invalid-input' } })
    expect(await store.put({ ...defaultSettings, providers: [acme, { ...acme, label: 'Twin' }] })).toMatchObject({ ok: false, error: { code: 'invalid-input' } })
  })
})

describe('COUNTERSIGN_PROVIDERS', () => {
  it('names a file whose providers are used', async () => {
    writeFileSync(join(folder, 'providers.json'), JSON.stringify([acme, local]))
    expect(await loadProvidersFile(join(folder, 'providers.json'), files)).toEqual({ providers: [acme, local], problem: null })
    expect(await loadProvidersFile(undefined, files)).toEqual({ providers: [], problem: null })
  })

  it.each([
    { name: 'a wrong field', text: JSON.stringify([acme, { ...local, baseUrl: 'ftp://x' }]), says: '1.baseUrl' }, { name: 'no list', text: '{}', says: 'expected array' },
    { name: 'no JSON', text: '[', says: 'no JSON' }, { name: 'the demo\'s id', text: JSON.stringify([{ ...acme, id: 'demo' }]), says: 'demo' }, { name: 'no file', text: null, says: 'no such file' },
  ])('with $name is told clearly, and none of it is used', async ({ text, says }) => {
    if (text !== null) writeFileSync(join(folder, 'providers.json'), text)
    const loaded = await loadProvidersFile(join(folder, 'providers.json'), files)
    expect(loaded.providers).toEqual([])
    expect(loaded.problem?.message).toContain(says)
    expect(loaded.problem?.message).toContain('providers.json')
  })
})

/** Keys in memory, by the name that the directory gives them. */
function memoryKeys(): ProviderKeys & { readonly held: Map<string, string> } {
  const held = new Map<string, string>()
  return {
    held, key: ({ id }) => held.get(id) ?? null, state: ({ id }) => (held.has(id) ? 'stored' : 'missing'),
    put: (id, key) => { held.set(id, key); return Promise.resolve({ ok: true, value: 'stored' }) },
    remove: (id) => { held.delete(id); return Promise.resolve({ ok: true, value: null }) },
  }
}

describe('model directory', () => {
  async function directory(fromEnvironment: readonly Provider[] = []) {
    const keys = memoryKeys()
    const settings = await openSettings(path, files, machineBytes)
    return { keys, settings, models: createModelDirectory({ settings, fromEnvironment, keys }) }
  }

  it('always has the demo, which needs no key, leaves nothing and costs nothing', async () => {
    const { models } = await directory()
    expect(models.resolve({ providerId: 'demo', modelId: 'demo' })).toMatchObject({ ok: true, value: { demo: true, remote: false, needsKey: false, price: { inputMicroUsd: 0, outputMicroUsd: 0 } } })
    expect(models.list()).toEqual([{ provider: demoProvider, origin: 'built-in-demo', key: 'none-needed', remote: false }])
  })

  it('resolves what Settings and the environment say, the environment first', async () => {
    const { models } = await directory([{ ...acme, label: 'Acme of the environment' }])
    expect((await models.put({ provider: local, key: null })).ok).toBe(true)
    expect(models.resolve({ providerId: 'acme', modelId: 'large' })).toMatchObject({ ok: true, value: { providerLabel: 'Acme of the environment', remote: true, needsKey: true, demo: false, price: null, contextTokens: 128_000 } })
    expect(models.resolve({ providerId: 'local', modelId: 'small' })).toMatchObject({ ok: true, value: { remote: false, needsKey: false, contextTokens: 8_000, outputTokens: 2_000 } })
    expect(models.list().map(({ provider, origin, key }) => [provider.id, origin, key])).toEqual([['demo', 'built-in-demo', 'none-needed'], ['acme', 'environment', 'missing'], ['local', 'settings', 'none-needed']])
  })

  it('says that a model server on this machine uses a credential once it was given a key', async () => {
    const { models } = await directory()
    await models.put({ provider: local, key: 'a-key-for-the-local-server' })
    expect(models.resolve({ providerId: 'local', modelId: 'small' })).toMatchObject({ ok: true, value: { remote: false, needsKey: true } })
    expect(models.credential('local')).toBe('a-key-for-the-local-server')
    await models.put({ provider: local, key: '' })
    expect(models.resolve({ providerId: 'local', modelId: 'small' })).toMatchObject({ ok: true, value: { needsKey: false } })
    expect(models.credential('local')).toBeNull()
  })

  it('says what is missing', async () => {
    const { models } = await directory([acme])
    expect(models.resolve({ providerId: 'nobody', modelId: 'large' })).toMatchObject({ ok: false, error: { code: 'provider-missing', message: expect.stringContaining('nobody') } })
    expect(models.resolve({ providerId: 'acme', modelId: 'tiny' })).toMatchObject({ ok: false, error: { code: 'provider-missing', message: expect.stringContaining('tiny') } })
  })

  it('keeps, replaces and removes a provider\'s key with it', async () => {
    const { models, settings } = await directory()
    expect(await models.put({ provider: acme, key: 'secret' })).toEqual({ ok: true, value: { key: 'stored' } })
    expect(await models.put({ provider: { ...acme, label: 'Renamed' }, key: null })).toEqual({ ok: true, value: { key: 'unchanged' } })
    expect(models.credential('acme')).toBe('secret')
    await settings.put({ ...settings.get(), defaults: { ...settings.get().defaults, lead: { providerId: 'acme', modelId: 'large' } } })
    expect(await models.remove('acme')).toEqual({ ok: true, value: null })
    expect([models.credential('acme'), settings.get().defaults.lead, models.list().length]).toEqual([null, null, 1])
    await models.put({ provider: acme, key: null })
    expect(models.credential('acme')).toBe(null)
  })

  it('never hands a key to another host than it was given for', async () => {
    const { models, keys } = await directory()
    await models.put({ provider: acme, key: 'secret' })
    await models.put({ provider: { ...acme, baseUrl: 'https://elsewhere.example/v1' }, key: null })
    expect(models.credential('acme')).toBe(null)
    expect(keys.held.size).toBe(0)
    await models.put({ provider: acme, key: 'secret' })
    const env = createModelDirectory({ settings: await openSettings(path, files, machineBytes), fromEnvironment: [{ ...acme, baseUrl: 'https://elsewhere.example/v1' }], keys })
    expect(env.credential('acme')).toBe(null)
  })

  it('refuses to change what the environment says', async () => {
    const { models } = await directory([acme])
    expect(await models.put({ provider: acme, key: null })).toMatchObject({ ok: false, error: { code: 'invalid-input' } })
    expect(await models.remove('acme')).toMatchObject({ ok: false, error: { code: 'provider-missing' } })
    expect(await models.remove('demo')).toMatchObject({ ok: false, error: { code: 'provider-missing' } })
  })
})

describe('loopback', () => {
  it.each(['http://localhost:1/v1', 'http://LOCALHOST/v1', 'http://api.localhost/v1', 'http://127.0.0.1/v1', 'http://127.9.9.9/v1', 'http://2130706433/v1', 'http://0x7f.1/v1', 'http://[::1]:8/v1', 'http://localhost./v1'])('is %s', (url) => {
    expect(isLoopback(url)).toBe(true)
  })
  it.each(['https://models.example/v1', 'http://0.0.0.0/v1', 'http://192.168.1.4/v1', 'http://127.0.0.1.example/v1', 'http://localhost.example/v1', 'http://notlocalhost/v1', 'http://[::2]/v1', 'http://user@10.0.0.1/v1'])('is not %s', (url) => {
    expect(isLoopback(url)).toBe(false)
  })
})
