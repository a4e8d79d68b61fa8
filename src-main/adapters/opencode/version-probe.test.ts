import { chmod, mkdtemp, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createVersionProbe, type VersionProbe } from './version-probe.ts'
import type { FileIdentity, KnownVersions } from './known-versions.ts'
import { hostTimers, manualClock } from './support.suite.ts'

let folder = ''
beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'probe-test-')) })
afterEach(async () => { await rm(folder, { recursive: true, force: true }) })

/** A stand-in for OpenCode that counts its runs, says what HOME it saw, and then does `body`. */
async function binary(body: string): Promise<{ path: string; runs: () => Promise<string[]>; set: (body: string) => Promise<void> }> {
  const path = join(folder, 'opencode')
  const set = async (text: string): Promise<void> => { await writeFile(path, `#!/bin/sh\necho "$HOME" >> ${folder}/runs\n${text}\n`); await chmod(path, 0o755) }
  await set(body)
  return { path, set, runs: async () => (await readFile(join(folder, 'runs'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '') }
}

/** What is known over restarts, as two starts of the app share it. */
function memory(): KnownVersions & { readonly kept: Map<string, string> } {
  const kept = new Map<string, string>()
  const key = (file: FileIdentity): string => JSON.stringify(file)
  return {
    kept, of: (file) => Promise.resolve(kept.get(key(file)) ?? null),
    keep: (file, version) => { kept.set(key(file), version); return Promise.resolve() },
    forget: (file) => { kept.delete(key(file)); return Promise.resolve() },
  }
}

/** A probe as a start of the app has it. */
function started(versions: KnownVersions = memory(), clock = manualClock()): VersionProbe {
  return createVersionProbe({ clock, timers: hostTimers, versions })
}

describe('the version probe', () => {
  test('runs once for concurrent callers and keeps the answer while the file stays the same', async () => {
    const stub = await binary('echo 1.18.30')
    const probe = started()
    const answers = await Promise.all([probe(stub.path), probe(stub.path), probe(stub.path)])
    await probe(stub.path)
    expect(answers.map((answer) => answer.ok && answer.value.version)).toEqual(['1.18.30', '1.18.30', '1.18.30'])
    expect(await stub.runs()).toHaveLength(1)
    await stub.set('echo 0.15.0 # another file')
    expect(await probe(stub.path)).toMatchObject({ ok: false, error: { code: 'opencode-unsupported' } })
    expect(await stub.runs()).toHaveLength(2)
  })

  test('gives the binary a home of its own, which is gone afterwards', async () => {
    const stub = await binary('echo 1.18.30')
    await started()(stub.path)
    const [home] = await stub.runs()
    expect(home).toContain('countersign-probe-')
    await expect(readFile(join(home ?? '', 'x'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('gives up on a binary that hangs, remembers that for five seconds only, and recovers', async () => {
    // The child's pid goes to a file: the test proves that it is gone too.
    const stub = await binary(`if [ -e ${folder}/mended ]; then echo 1.18.30; exit; fi\nsleep 600 & echo $! > ${folder}/pid; wait`)
    const clock = manualClock()
    const versions = memory()
    const probe = started(versions, clock)
    expect(await probe(stub.path)).toMatchObject({ ok: false, error: { code: 'opencode-probe-timeout' } })
    await writeFile(join(folder, 'mended'), '')
    clock.advance(4_999)
    expect(await probe(stub.path)).toMatchObject({ ok: false, error: { code: 'opencode-probe-timeout' } })
    const pid = (await readFile(join(folder, 'pid'), 'utf8')).trim()
    await expect.poll(async () => await readFile(`/proc/${pid}/stat`, 'utf8').then((line) => line.split(') ')[1]?.[0], () => 'gone')).toMatch(/^(Z|gone)$/)
    expect([...versions.kept], 'an answer that says nothing is not remembered').toEqual([])
    clock.advance(1)
    expect(await probe(stub.path)).toMatchObject({ ok: true, value: { version: '1.18.30' } })
  })

  test('that broke off is remembered for five seconds only as well', async () => {
    const stub = await binary('echo 1.18.30')
    const clock = manualClock()
    let full = true
    const versions = memory()
    const probe = started({ ...versions, of: (file) => (full ? Promise.reject(new Error('the disk is full')) : versions.of(file)) }, clock)
    const [one, other] = await Promise.allSettled([probe(stub.path), probe(stub.path)])
    expect([one, other]).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
    full = false
    clock.advance(4_999)
    await expect(probe(stub.path)).rejects.toThrow('the disk is full')
    clock.advance(1)
    expect(await probe(stub.path)).toMatchObject({ ok: true, value: { version: '1.18.30' } })
  })

  test('knows a binary that told its version from then on, over restarts: the next start runs nothing', async () => {
    const stub = await binary('echo 1.18.30')
    const versions = memory()
    expect(await started(versions)(stub.path)).toMatchObject({ ok: true, value: { version: '1.18.30' } })
    const again = await Promise.all([started(versions)(stub.path), started(versions)(stub.path)])
    expect(again).toEqual([{ ok: true, value: { version: '1.18.30', binaryPath: stub.path } }, { ok: true, value: { version: '1.18.30', binaryPath: stub.path } }])
    expect(await stub.runs()).toHaveLength(1)
  })

  test('asks a file that was changed in place, replaced, or put in by another link, however alike it looks', async () => {
    const stub = await binary('echo 1.18.30')
    const versions = memory()
    const link = join(folder, 'link')
    await symlink(stub.path, link)
    expect(await started(versions)(link)).toMatchObject({ ok: true, value: { version: '1.18.30' } })
    const { atime, mtime } = await stat(stub.path)
    await stub.set('echo 1.18.34')
    await utimes(stub.path, atime, mtime)
    expect(await started(versions)(link), 'the same size and time of writing').toMatchObject({ ok: true, value: { version: '1.18.34' } })
    await writeFile(join(folder, 'other'), '#!/bin/sh\necho 1.17.18')
    await chmod(join(folder, 'other'), 0o755)
    await rm(link)
    await symlink(join(folder, 'other'), link)
    expect(await started(versions)(link)).toMatchObject({ ok: true, value: { version: '1.17.18' } })
  })

  test('remembers nothing of one that is refused, fails, or is another file by the time it has answered', async () => {
    const versions = memory()
    const stub = await binary('echo 0.15.0')
    expect(await started(versions)(stub.path)).toMatchObject({ ok: false, error: { code: 'opencode-unsupported' } })
    await stub.set('exit 7')
    expect(await started(versions)(stub.path)).toMatchObject({ ok: false, error: { code: 'opencode-missing' } })
    await stub.set('echo "# changed" >> "$0"; echo 1.18.30')
    expect(await started(versions)(stub.path)).toMatchObject({ ok: true })
    expect([...versions.kept]).toEqual([])
  })

  test('forgets what turned out wrong, and runs the binary again', async () => {
    const stub = await binary('echo 1.18.30')
    const versions = memory()
    const probe = started(versions)
    await probe(stub.path)
    await probe.forget(stub.path)
    expect([...versions.kept]).toEqual([])
    await probe(stub.path)
    expect(await stub.runs()).toHaveLength(2)
  })

  test('tells a missing file, no choice, and a file that does not run apart from an unsupported one', async () => {
    const probe = started()
    expect(await probe(null)).toMatchObject({ ok: false, error: { code: 'opencode-missing' } })
    expect(await probe(join(folder, 'nothing'))).toMatchObject({ ok: false, error: { code: 'opencode-missing' } })
    const stub = await binary('exit 7')
    expect(await probe(stub.path)).toMatchObject({ ok: false, error: { code: 'opencode-missing', message: expect.stringContaining('exit code 7') as string } })
  })
})
