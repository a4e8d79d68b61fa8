import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createVersionProbe } from './version-probe.ts'
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

describe('the version probe', () => {
  test('runs once for concurrent callers and keeps the answer while the file stays the same', async () => {
    const stub = await binary('echo 1.18.30')
    const probe = createVersionProbe({ clock: manualClock(), timers: hostTimers })
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
    await createVersionProbe({ clock: manualClock(), timers: hostTimers })(stub.path)
    const [home] = await stub.runs()
    expect(home).toContain('countersign-probe-')
    await expect(readFile(join(home ?? '', 'x'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('gives up on a binary that hangs, remembers that for five seconds only, and recovers', async () => {
    // The child's pid goes to a file: the test proves that it is gone too.
    const stub = await binary(`if [ -e ${folder}/mended ]; then echo 1.18.30; exit; fi\nsleep 600 & echo $! > ${folder}/pid; wait`)
    const clock = manualClock()
    const probe = createVersionProbe({ clock, timers: hostTimers })
    expect(await probe(stub.path)).toMatchObject({ ok: false, error: { code: 'opencode-probe-timeout' } })
    await writeFile(join(folder, 'mended'), '')
    clock.advance(4_999)
    expect(await probe(stub.path)).toMatchObject({ ok: false, error: { code: 'opencode-probe-timeout' } })
    const pid = (await readFile(join(folder, 'pid'), 'utf8')).trim()
    await expect.poll(async () => await readFile(`/proc/${pid}/stat`, 'utf8').then((line) => line.split(') ')[1]?.[0], () => 'gone')).toMatch(/^(Z|gone)$/)
    clock.advance(1)
    expect(await probe(stub.path)).toMatchObject({ ok: true, value: { version: '1.18.30' } })
  })

  test('tells a missing file, no choice, and a file that does not run apart from an unsupported one', async () => {
    const probe = createVersionProbe({ clock: manualClock(), timers: hostTimers })
    expect(await probe(null)).toMatchObject({ ok: false, error: { code: 'opencode-missing' } })
    expect(await probe(join(folder, 'nothing'))).toMatchObject({ ok: false, error: { code: 'opencode-missing' } })
    const stub = await binary('exit 7')
    expect(await probe(stub.path)).toMatchObject({ ok: false, error: { code: 'opencode-missing', message: expect.stringContaining('exit code 7') as string } })
  })
})
