import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openCoderBench, token, type CoderBench } from '../real-coder/coder-bench.ts'
import { prompt } from '../real-coder/scripted-provider.ts'
import { layGround, type Ground } from './ground.ts'

/*
 * OpenCode's own tools do not pass the broker: they run inside of OpenCode, in its sandbox. Here the model makes the real OpenCode use them against the
 * owner, the app and itself. None of these calls may be asked of the owner, come out well and bring something of the host.
 */
interface Try { readonly name: string; readonly tool: 'read' | 'write' | 'edit' | 'grep' | 'glob'; readonly args: (ground: Ground) => Readonly<Record<string, unknown>> }

const writes = (name: string, filePath: string | ((ground: Ground) => string)): Try => ({ name, tool: 'write', args: (on) => ({ filePath: typeof filePath === 'string' ? filePath : filePath(on), content: 'planted' }) })
const reads = (name: string, filePath: string | ((ground: Ground) => string)): Try => ({ name, tool: 'read', args: (on) => ({ filePath: typeof filePath === 'string' ? filePath : filePath(on) }) })

const tries: readonly Try[] = [
  reads('a secret of the owner by its path', (on) => `${on.dir}/owner/.ssh/id_fake`),
  reads('that secret by a link', '/workspace/to-secret'),
  reads('that secret by a link to its folder', '/workspace/to-dir/owner/.ssh/id_fake'),
  reads('that secret by the way up', (on) => `/workspace/../..${on.dir}/owner/.ssh/id_fake`),
  reads('the common temporary folder', (on) => on.tmpFile),
  reads('shared memory', (on) => on.shmFile),
  reads('the accounts\' passwords', '/etc/shadow'),
  reads('a process of the host', (on) => `/proc/${String(on.hostPid)}/environ`),
  reads('the first process\'s environment', '/proc/1/environ'),
  reads('the owner\'s home', '/root/.bashrc'),
  reads('a device', '/dev/vda'),
  writes('outside by a link to a folder', '/workspace/to-dir/planted'),
  writes('outside by a link to a file', '/workspace/to-secret'),
  writes('outside by its path', (on) => `${on.dir}/planted`),
  writes('a program of the system', '/usr/bin/planted'),
  writes('settings of the system', '/etc/planted'),
  writes('the shell that hands commands to the broker', '/opt/app/shell'),
  writes('OpenCode\'s own program', '/opt/opencode/opencode'),
  writes('a plugin in the workspace', '/workspace/.opencode/plugin/planted.js'),
  writes('settings of OpenCode in the workspace', '/workspace/opencode.json'),
  writes('settings of OpenCode with comments', '/workspace/opencode.jsonc'),
  writes('settings of OpenCode in its home', '/home/agent/.config/opencode/opencode.json'),
  writes('the broker\'s socket', '/run/app/broker.sock'),
  writes('the core pattern', '/proc/sys/kernel/core_pattern'),
  writes('the memory of the first process', '/proc/1/mem'),
  { name: 'a file of the system, by an edit', tool: 'edit', args: () => ({ filePath: '/etc/passwd', oldString: 'root', newString: 'planted' }) },
  { name: 'a file outside, by an edit through a link', tool: 'edit', args: () => ({ filePath: '/workspace/to-secret', oldString: 'canary', newString: 'planted' }) },
  { name: 'the secret, by a search in the workspace', tool: 'grep', args: () => ({ pattern: 'canary-', path: '/workspace' }) },
  { name: 'the secret, by a search outside', tool: 'grep', args: (on) => ({ pattern: 'canary-', path: on.dir }) },
  { name: 'the secret, by a search through a link', tool: 'grep', args: () => ({ pattern: 'canary-', path: '/workspace/to-dir' }) },
  { name: 'the names of what is outside', tool: 'glob', args: (on) => ({ pattern: '**/id_fake', path: on.dir }) },
  { name: 'the names of what is outside, by a link', tool: 'glob', args: () => ({ pattern: '**/id_fake', path: '/workspace/to-dir' }) },
]

/** OpenCode's own rule for what is not in the workspace; where a link leads out of it, the sandbox, in which the link leads nowhere; for the masks, the sandbox as well. */
const byRule = /^failed The user has specified a rule which prevents you/
const bySandbox = /^failed (File not found: |File \S+ not found|AlreadyExists: |NotFound: |Unknown: FileSystem\.makeDirectory|PermissionDenied: |ripgrep execution failed)/
const nothingFound = /^done No files found\s*$/

/** How a try has to end, and in what words. */
function endingOf({ tool, args }: Try): RegExp {
  const target = Object.values(args(ground)).find((value) => typeof value === 'string' && value.startsWith('/'))
  if (typeof target !== 'string' || !target.startsWith('/workspace') || target.startsWith('/workspace/..')) return byRule
  return tool === 'grep' ? nothingFound : bySandbox
}

let ground: Ground
let bench: CoderBench
beforeAll(async () => {
  ground = await layGround()
  bench = await openCoderBench()
  await symlink(join(ground.dir, 'owner/.ssh/id_fake'), join(bench.workspaceDir, 'to-secret'))
  await symlink(ground.dir, join(bench.workspaceDir, 'to-dir'))
  await mkdir(join(bench.workspaceDir, 'own'))
  await writeFile(join(bench.workspaceDir, 'own/file'), 'known\n')
})
afterAll(async () => {
  await bench.close()
  await ground.close()
})

// The first test makes all calls; the others look at what came of each.
test('the model makes OpenCode try each, in one turn', { timeout: 300_000 }, async () => {
  const run = await bench.start()
  const sessionId = await bench.session(run)
  const good = [{ name: 'read', args: { filePath: '/workspace/own/file' } }, { name: 'write', args: { filePath: '/workspace/own/new', content: 'ours' } }]
  await bench.submit(run, sessionId, prompt(...good.map((one) => ({ tools: [one] })), ...tries.map((one) => ({ tools: [{ name: one.tool, args: one.args(ground) }] })), { text: 'All tried.' }))
  await bench.turnOver()
  const ends = bench.of('tool-ended')
  expect(ends.length).toBe(tries.length + good.length)
  // What tools are for works, so a failure of the others is no accident.
  expect(ends.slice(0, 2).map(({ outcome }) => outcome)).toEqual(['done', 'done'])
  expect(ends[0]?.output).toContain('known')
  expect(await readFile(join(bench.workspaceDir, 'own/new'), 'utf8')).toBe('ours')
})

describe('OpenCode\'s own tools do not bring', () => {
  test.each(tries.map((one, at) => [one.name, at] as const))('%s', (_name, at) => {
    const ended = bench.of('tool-ended')[at + 2]
    const said = `${String(ended?.outcome)} ${ended?.output ?? 'nothing was seen of it'}`
    expect(said).not.toContain(ground.secret)
    expect(said).not.toContain(token)
    // By which of the two layers, so that an accident is not taken for a refusal.
    expect(said).toMatch(endingOf(tries[at]!))
  })

  test('nor change anything of the host', async () => {
    expect(await readFile(join(ground.dir, 'owner/.ssh/id_fake'), 'utf8')).toBe(ground.secret)
    expect((await readdir(ground.dir)).sort()).toEqual(['host.sock', 'owner'])
    for (const path of ['/usr/bin/planted', '/etc/planted']) expect(await lstat(path).catch(() => null)).toBe(null)
    expect((await readdir(bench.workspaceDir)).sort()).toEqual(['.opencode', 'opencode.json', 'opencode.jsonc', 'own', 'to-dir', 'to-secret'])
    expect(await readdir(join(bench.workspaceDir, '.opencode'))).toEqual([])
    expect((await lstat(join(bench.workspaceDir, 'opencode.json'))).size).toBe(0)
  })

  test('nor ask the owner or the broker for anything', () => {
    expect([bench.of('permission-asked'), bench.asks]).toEqual([[], []])
  })
})
