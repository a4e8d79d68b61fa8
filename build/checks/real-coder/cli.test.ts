import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { observerScript } from '../../../src-main/adapters/opencode/cli/observer-script.ts'
import { insideFiles } from '../../../src-main/adapters/opencode/cli/runner-script.ts'
import { bounded, openCoderBench, type CoderBench } from './coder-bench.ts'
import { prompt } from './scripted-provider.ts'

let bench: CoderBench
afterEach(async () => { vi.unstubAllEnvs(); await bench.close() })

const bash = (command: string): { name: string; args: unknown } => ({ name: 'bash', args: { command, description: 'x' } })
const write = { name: 'write', args: { filePath: '/workspace/a.txt', content: 'hello\n' } }

describe('commands of “opencode run”', () => {
  test('pass the host’s broker with their exact text, and nothing of the workspace or the operator steers them', bounded, async () => {
    vi.stubEnv('OPENCODE_CONFIG_CONTENT', '{"permission":"OPERATOR-CANARY"}')
    bench = await openCoderBench('opencode-run')
    await writeFile(join(bench.workspaceDir, '.env'), 'BUN_OPTIONS="--preload /workspace/evil.js"\nOPENCODE_CONFIG_CONTENT={}\n')
    await writeFile(join(bench.workspaceDir, 'bunfig.toml'), 'preload = ["/workspace/evil.js"]\n')
    await writeFile(join(bench.workspaceDir, 'evil.js'), 'require("fs").writeFileSync("/workspace/evil-ran", "")\n')
    await mkdir(join(bench.workspaceDir, '.opencode/plugin'), { recursive: true })
    await writeFile(join(bench.workspaceDir, '.opencode/plugin/evil.js'), 'export const Evil = async () => { require("fs").writeFileSync("/workspace/evil-ran", ""); return {} }\n')
    bench.verdict = ({ text }) => Promise.resolve(text.startsWith('echo') ? { verdict: 'run' } : { verdict: 'refuse', reason: 'not granted' })
    const run = await bench.start()
    const command = 'echo "a  b" > made; cat made; exit 3'
    await bench.submit(run, await bench.session(run), prompt({ tools: [bash(command)] }, { tools: [bash('> sneaked'), { name: 'question', args: { questions: [] } }] }, { text: 'Done.' }))
    expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'completed', text: 'Done.' })
    expect(bench.asks.map(({ text, cwd }) => `${cwd} ${text}`)).toEqual([`/workspace ${command}`, '/workspace > sneaked'])
    expect(bench.of('tool-ended').map(({ tool, outcome, exitCode }) => `${tool} ${outcome} ${String(exitCode)}`).toSorted()).toEqual(['bash done 126', 'bash done 3', 'question failed null'])
    expect(bench.of('tool-ended').find(({ exitCode }) => exitCode === 126)?.output).toContain('not granted')
    expect(await readFile(join(bench.workspaceDir, 'made'), 'utf8')).toBe('a  b\n')
    for (const name of ['evil-ran', 'sneaked']) await expect(readFile(join(bench.workspaceDir, name))).rejects.toMatchObject({ code: 'ENOENT' })
    expect(bench.provider.requests[0]?.tools).toEqual(['bash', 'edit', 'glob', 'grep', 'read', 'write'])
    expect(bench.of('permission-asked').concat(bench.of('question-asked') as never)).toEqual([])
  })

  test('are denied with all edits where the task’s grant says so; a task whose edits must ask is refused with what to do', bounded, async () => {
    bench = await openCoderBench('opencode-run')
    await expect(bench.start({ permissions: { edit: 'ask', bash: 'ask' } })).rejects.toThrow(/invalid-input: .*cannot ask before an edit/)
    const run = await bench.start({ permissions: { edit: 'deny', bash: 'deny' } })
    await bench.submit(run, await bench.session(run), prompt({ tools: [write, bash('echo hi')] }, { text: 'Understood.' }))
    expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'completed' })
    expect(bench.of('tool-ended').map(({ outcome }) => outcome)).toEqual(['failed', 'failed'])
    expect(bench.asks).toEqual([])
    await expect(readFile(join(bench.workspaceDir, 'a.txt'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

/** An observer that is broken in some way, in the place of ours. Ours is repaired at each start, so it is swapped behind that. */
const broken = {
  'is no module at all': 'this is } not a module {',
  'throws when it is loaded': 'throw new Error("at load")',
  'throws at every event': 'export const Bad = async () => ({ event: async () => { throw new Error("at event") } })',
  'is refused by stdout for a while': `const real = process.stdout.write.bind(process.stdout)
let refused = 0
process.stdout.write = (bytes, ...rest) => { if (String(bytes).includes('countersign.call') && refused++ < 2) throw Object.assign(new Error('again'), { code: 'EAGAIN' }); return real(bytes, ...rest) }
${observerScript}`,
} as const

describe('the observer of “opencode run”', () => {
  test.each(Object.entries(broken))('when it %s, the run and its records are whole', bounded, async (what, text) => {
    bench = await openCoderBench('opencode-run')
    const file = join(bench.dir, 'broken.mjs')
    await writeFile(file, text)
    bench.changeLaunch = (spec) => ({ ...spec, readOnlyFiles: (spec.readOnlyFiles ?? []).map((entry) => (entry.into === insideFiles.observer ? { ...entry, hostPath: file } : entry)) })
    const run = await bench.start()
    await bench.submit(run, await bench.session(run), prompt({ tools: [write] }, { text: 'Done.' }))
    expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'completed', text: 'Done.' })
    expect(bench.of('tool-ended')).toMatchObject([{ tool: 'write', outcome: 'done' }])
    const early = bench.of('tool-pending')
    // Refused words come with a later event; those of a plugin that fails do not come.
    expect(early.length > 0).toBe(what.startsWith('is refused'))
    expect(bench.signals.findIndex(({ is }) => is === 'tool-ended')).toBeGreaterThan(bench.signals.findLastIndex(({ is }) => is === 'tool-pending'))
    expect(await readFile(join(bench.workspaceDir, 'a.txt'), 'utf8')).toBe('hello\n')
  })

  test('is repaired when its file was changed; with OPENCODE_PURE it stays away, and the owner is told', bounded, async () => {
    bench = await openCoderBench('opencode-run')
    const file = join(bench.dir, 'files/observer.mjs')
    await mkdir(join(bench.dir, 'files'))
    await writeFile(file, 'throw new Error("corrupted")')
    const seen = await bench.start()
    expect(seen.notes).toEqual([])
    expect(await readFile(file, 'utf8')).toBe(observerScript)
    expect(JSON.stringify(bench.log)).toContain('written again')
    await seen.stop()

    vi.stubEnv('OPENCODE_PURE', '1')
    const run = await bench.start()
    expect(run.notes).toEqual([expect.stringContaining('OPENCODE_PURE is set')])
    expect(JSON.stringify(bench.log)).toContain('OPENCODE_PURE is set')
    await bench.submit(run, await bench.session(run), prompt({ tools: [write] }, { text: 'Done.' }))
    expect(await bench.next('turn-ended')).toMatchObject({ outcome: 'completed' })
    expect(bench.of('tool-pending')).toEqual([])
    expect(bench.of('tool-ended')).toMatchObject([{ tool: 'write', outcome: 'done' }])
  })
})
