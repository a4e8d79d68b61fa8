import { copyFile, link, mkdtemp, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createKnownVersions, identify, isSameFile, type FileIdentity, type KnownVersions, type KnownVersionsDeps } from './known-versions.ts'

let folder = ''
beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'versions-test-')) })
afterEach(async () => { await rm(folder, { recursive: true, force: true }) })

const elf = Buffer.from('7f454c4602010100', 'hex')

async function program(name: string, start: Uint8Array = elf): Promise<FileIdentity> {
  const path = join(folder, name)
  await writeFile(path, Buffer.concat([start, Buffer.from(name)]))
  return identified(path)
}

async function identified(path: string): Promise<FileIdentity> {
  const file = await identify(path)
  if (file === null) throw new Error(`${path} is no file`)
  return file
}

/** The file of what is known, as starts of the app share it. */
function shelf(text: string | null = null, note: string | null = null) {
  const file = { text, broken: null as Error | null }
  const told: string[] = []
  const shipped = { path: join(folder, 'shipped'), notePath: '/resources/shipped.json' }
  const files: KnownVersionsDeps['files'] = {
    read: (path) => (file.broken === null ? Promise.resolve(path === shipped.notePath ? note : file.text) : Promise.reject(file.broken)),
    write: (_path, next) => { if (file.broken !== null) return Promise.reject(file.broken); file.text = next; return Promise.resolve() },
  }
  const start = (): KnownVersions => createKnownVersions({ path: '/data/opencode-versions.json', shipped, files, log: ({ msg }) => { told.push(msg) } })
  return { file, told, start }
}

describe('known versions', () => {
  test('are told at the next start, for exactly that file', async () => {
    const kept = shelf()
    const [one, other] = [await program('one'), await program('other')]
    await kept.start().keep(one, '1.18.30')
    const next = kept.start()
    expect(await next.of(one)).toBe('1.18.30')
    expect(await next.of(other)).toBeNull()
    for (const change of [{ path: '/elsewhere' }, { inode: '1' }, { bytes: '1' }, { modifiedNs: '1' }, { changedNs: '1' }]) expect(await next.of({ ...one, ...change }), JSON.stringify(change)).toBeNull()
  })

  test('are of the few binaries that were looked at last, the newest for each path, and several at once lose none', async () => {
    const kept = shelf()
    const now = kept.start()
    const programs = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => program(name)))
    await Promise.all(programs.map((file) => now.keep(file, '1.18.30')))
    const [a, b] = programs as [FileIdentity, FileIdentity]
    await now.keep({ ...b, changedNs: '7' }, '1.18.34')
    const next = kept.start()
    expect(await Promise.all([...programs, { ...b, changedNs: '7' }].map((file) => next.of(file)))).toEqual([null, null, '1.18.30', '1.18.30', '1.18.30', '1.18.34'])
    await next.forget(a)
    await next.forget({ ...b, changedNs: 'whichever' })
    expect(await kept.start().of({ ...b, changedNs: '7' })).toBeNull()
  })

  test('are not of scripts, which may start another program tomorrow, nor of what cannot be read', async () => {
    const kept = shelf()
    const files = [await program('script', Buffer.from('#!/bin/sh\n')), await program('text', Buffer.from('echo 1.18.30\n')), await program('empty', Buffer.from(''))]
    for (const file of [...files, { ...files[0]!, path: join(folder, 'gone') }]) await kept.start().keep(file, '1.18.30')
    expect(kept.file.text).toBeNull()
  })

  test('are judged by the app that reads them, not by the one that wrote them', async () => {
    const kept = shelf()
    const one = await program('one')
    await kept.start().keep(one, '1.18.30')
    kept.file.text = kept.file.text!.replace('1.18.30', '0.15.0')
    expect(await kept.start().of(one)).toBeNull()
  })

  test.each([
    ['no JSON', (text: string) => text.slice(0, -9)], ['another format', (text: string) => text.replace('"format": 1', '"format": 2')], ['a field too many', (text: string) => text.replace('"format": 1', '"format": 1, "more": 1')],
    ['a number that is none', (text: string) => text.replace(/"bytes": "\d+"/, '"bytes": "many"')], ['far too long', (text: string) => text + ' '.repeat(40_000)],
  ])('that cannot be what the app wrote (%s) are not used, and are written anew', async (_, spoil) => {
    const kept = shelf()
    const one = await program('one')
    await kept.start().keep(one, '1.18.30')
    kept.file.text = spoil(kept.file.text!)
    const next = kept.start()
    expect(await next.of(one)).toBeNull()
    expect(kept.told).toHaveLength(1)
    await next.keep(one, '1.18.30')
    expect(await kept.start().of(one)).toBe('1.18.30')
  })

  test('that the disk refuses are known for this start all the same', async () => {
    const kept = shelf()
    kept.file.broken = new Error('EIO')
    const now = kept.start()
    const one = await program('one')
    await now.keep(one, '1.18.30')
    expect(await now.of(one)).toBe('1.18.30')
    expect(kept.told).toEqual(['the known versions of OpenCode could not be read', 'the known versions of OpenCode could not be saved'])
  })

  test('are told of the OpenCode that came with the app by its package, until it does not work, and of no other file', async () => {
    const [shipped, other] = [await program('shipped'), await program('another')]
    const kept = shelf(null, JSON.stringify({ version: '1.18.30', bytes: Number(shipped.bytes) }))
    const now = kept.start()
    expect(await now.of(shipped)).toBe('1.18.30')
    expect(await now.of(other)).toBeNull()
    await symlink(shipped.path, join(folder, 'by-link'))
    expect(await now.of(await identified(join(folder, 'by-link')))).toBe('1.18.30')
    await now.forget(shipped)
    expect(await now.of(shipped)).toBeNull()
    expect(await kept.start().of(shipped)).toBe('1.18.30')
    expect(kept.file.text).toBeNull()
  })

  test.each([
    ['no note', null], ['bytes that it has not', '{"version":"1.18.30","bytes":7}'], ['a version that does not do', '{"version":"2.0.0","bytes":15}'],
    ['no JSON', '{'], ['another shape', '{"version":"1.18.30","bytes":15,"more":1}'],
  ])('are asked of the OpenCode that came with the app where its package says %s', async (_what, note) => {
    const shipped = await program('shipped')
    expect(shipped.bytes).toBe('15')
    const kept = shelf(null, note)
    expect(await kept.start().of(shipped)).toBeNull()
    expect(kept.told.length).toBe(note === '{' || note?.includes('more') === true ? 1 : 0)
  })
})

describe('the identity of a file', () => {
  test('is the same through a link, and another after each change, even one that puts size and time back', async () => {
    const one = await program('one')
    await symlink(one.path, join(folder, 'to-one'))
    expect(isSameFile(one, await identified(join(folder, 'to-one')))).toBe(true)
    const seen = [one]
    const differs = async (what: string): Promise<void> => {
      const now = await identified(one.path)
      expect(seen.filter((before) => isSameFile(before, now)), what).toEqual([])
      seen.push(now)
    }
    const time = new Date(Number(BigInt(one.modifiedNs) / 1_000_000n))
    await tick(one)
    await writeFile(one.path, Buffer.concat([elf, Buffer.from('eno')]))
    await utimes(one.path, time, time)
    await differs('written over')
    await copyFile(one.path, join(folder, 'copy'))
    await utimes(join(folder, 'copy'), time, time)
    await rename(join(folder, 'copy'), one.path)
    await differs('replaced')
    await tick(seen.at(-1)!)
    await link(one.path, join(folder, 'second-name'))
    await differs('given a second name')
  })

  test('is none where there is no file', async () => {
    expect(await identify(join(folder, 'nothing'))).toBeNull()
    expect(await identify(folder)).toBeNull()
  })
})

/** File systems count changes by the kernel's tick: until one is later than the file's last. */
async function tick(file: FileIdentity): Promise<void> {
  const probe = join(folder, 'tick')
  await expect.poll(async () => {
    await writeFile(probe, '')
    return BigInt((await identified(probe)).changedNs) > BigInt(file.changedNs)
  }).toBe(true)
}
