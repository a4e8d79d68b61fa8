import { describe, expect, test } from 'vitest'
import { defaultSandboxLimits } from '../../../src-preload/contract/limits.ts'
import { agentArguments, commandArguments, commandEnvironment, limitedAgent, limitedCommand, limitedVendor, vendorArguments, type AgentShape, type CommandShape } from './bubblewrap-arguments.ts'
import type { HostLayout } from './host-layout.ts'

const layout: HostLayout = { bwrapPath: '/usr/bin/bwrap', bwrapNote: null, systemLinks: [{ at: '/bin', target: 'usr/bin' }], systemFolders: ['/lib32'], plainShell: '/usr/bin/dash', interpreters: ['/usr/bin/bash', '/usr/bin/git'], commandShell: '/usr/bin/bash', prlimit: '/usr/bin/prlimit', bash: '/usr/bin/bash', drop: null }
const common = {
  layout, files: { etc: '/run1/etc', app: '/run1/app', tools: '/run1/tools', emptyJson: '/run1/empty.json', emptyFolder: '/run1/opencode' }, workspaceDir: '/data/ws',
  masks: [{ path: '.opencode', kind: 'folder' }, { path: 'opencode.json', kind: 'file' }] as const, binds: [{ from: '/data/deps', into: '/workspace/node_modules', write: false }],
}
const agent = agentArguments({ ...common, stateDir: '/data/state', binaryPath: '/opt/oc', egressSocketPath: '/run1/egress/proxy.sock', brokerSocketPath: '/run1/broker.sock', controlDir: '/run1/ctl' } satisfies AgentShape)
const command = commandArguments({ ...common, binaryPath: '/opt/oc', cwd: '/workspace/sub' } satisfies CommandShape)

const vendorShape = { layout, files: common.files, homeDir: '/data/vendor', binds: [{ from: '/v/lib', into: '/v/lib', write: false }], binaryPath: '/opt/oc', egressFolder: '/run1/egress', controlDir: '/run1/ctl', promptFile: '/run1/prompt.txt' }

/** Position of a run of neighbouring arguments, -1 when they are not there. */
const place = (list: readonly string[], ...wanted: readonly string[]): number => list.findIndex((_entry, at) => wanted.every((word, offset) => list[at + offset] === word))

const both: readonly (readonly [string, readonly string[]])[] = [
  ['a user namespace of its own', ['--unshare-user', '--uid', '1000', '--gid', '1000', '--disable-userns']],
  ['a process namespace of its own', ['--unshare-pid']],
  ['a network namespace of its own', ['--unshare-net']],
  ['an IPC namespace of its own', ['--unshare-ipc']],
  ['a host name of its own', ['--unshare-uts']],
  ['a cgroup namespace where there is one', ['--unshare-cgroup-try']],
  ['death with the host', ['--die-with-parent']],
  ['no terminal of the host', ['--new-session']],
  ['no capabilities', ['--cap-drop', 'ALL']],
  ['a read-only system', ['--ro-bind', '/usr', '/usr']],
  ['old names as links', ['--symlink', 'usr/bin', '/bin']],
  ['old names that are folders read-only', ['--ro-bind', '/lib32', '/lib32']],
  ['kernel settings read-only', ['--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys']],
  ['a private /tmp', ['--tmpfs', '/tmp']],
  ['a synthetic passwd', ['--ro-bind', '/run1/etc/passwd', '/etc/passwd']],
  ['a synthetic hosts', ['--ro-bind', '/run1/etc/hosts', '/etc/hosts']],
  ['the workspace for writing', ['--bind', '/data/ws', '/workspace']],
  ['dependencies read-only', ['--ro-bind', '/data/deps', '/workspace/node_modules']],
  ['an empty read-only .opencode', ['--ro-bind', '/run1/opencode', '/workspace/.opencode']],
  ['an empty read-only opencode.json', ['--ro-bind', '/run1/empty.json', '/workspace/opencode.json']],
  ['the system-call filter', ['--seccomp', '4']],
  ['its status on a descriptor', ['--json-status-fd', '5']],
]

describe.each([['the agent', agent], ['a command', command]] as const)('%s gets', (_who, list) => {
  test.each(both)('%s', (_what, words) => {
    expect(place(list, ...words)).toBeGreaterThanOrEqual(0)
  })

  test('a root that turns read-only after every mount', () => {
    const last = place(list, '--remount-ro', '/')
    expect(last).toBeGreaterThan(0)
    expect(list.slice(last + 2).filter((word) => word.includes('bind') || word === '--tmpfs')).toEqual([])
  })

  test('masks that nothing below the workspace is mounted after', () => {
    const mask = place(list, '--ro-bind', '/run1/opencode', '/workspace/.opencode')
    expect(place(list, '--bind', '/data/ws', '/workspace')).toBeLessThan(mask)
    expect(place(list, '--ro-bind', '/data/deps', '/workspace/node_modules')).toBeLessThan(mask)
  })

  test('no environment and no secret through arguments', () => {
    expect(list).not.toContain('--setenv')
  })

  test('no device, home or socket folder of the host', () => {
    const sources = list.filter((_word, at) => /^--(ro-)?bind/.test(list[at - 1] ?? ''))
    expect(sources.filter((source) => source === '/' || /^\/(home|root|run|var|sys|dev\/(?!null))/.test(source) && !source.startsWith('/run1/'))).toEqual([])
  })
})

test('the agent starts outside the workspace, in our read-only folder', () => {
  expect(place(agent, '--chdir', '/opt/app')).toBeGreaterThan(0)
  expect(place(agent, '--ro-bind', '/run1/app', '/opt/app')).toBeGreaterThan(0)
})

test('the agent has no interpreter but the one behind its shell', () => {
  expect(place(agent, '--ro-bind', '/dev/null', '/usr/bin/bash')).toBeGreaterThan(place(agent, '--ro-bind', '/usr', '/usr'))
  expect(place(agent, '--ro-bind', '/dev/null', '/usr/bin/git')).toBeGreaterThan(0)
  expect(place(agent, '--ro-bind', '/usr/bin/dash', '/opt/app/sh')).toBeGreaterThan(place(agent, '--ro-bind', '/run1/app', '/opt/app'))
})

test('only the agent has its state and the three sockets', () => {
  expect(place(agent, '--bind', '/data/state', '/home/agent')).toBeGreaterThan(0)
  expect(place(agent, '--bind', '/run1/ctl', '/run/ctl')).toBeGreaterThan(0)
  expect(place(agent, '--ro-bind', '/run1/egress', '/run/app/egress')).toBeGreaterThan(0)
  expect(place(agent, '--ro-bind', '/run1/broker.sock', '/run/app/broker.sock')).toBeGreaterThan(0)
  expect(command.filter((word) => /data\/state|\.sock|\/run\/|run1\/app|run1\/ctl/.test(word))).toEqual([])
})

test('a command starts where it was asked to and has an empty home and the tools', () => {
  expect(place(command, '--chdir', '/workspace/sub')).toBeGreaterThan(0)
  expect(place(command, '--tmpfs', '/home/agent')).toBeGreaterThan(0)
  expect(place(command, '--ro-bind', '/run1/tools', '/opt/tools')).toBeGreaterThan(0)
})

test('a command is one argument, whatever is in it, under limits that are set inside', () => {
  const text = 'echo "a b" && $(x) \'\n#'
  const line = limitedCommand(layout, defaultSandboxLimits, text)
  expect([line[0], line[1], line[4]]).toEqual(['/usr/bin/dash', '-c', '/usr/bin/prlimit'])
  expect(line).toContain('--core=0')
  expect(line.slice(-3)).toEqual(['/usr/bin/bash', '-c', text])
})

test('chosen toolchains come before what the system has, and nothing of the host\'s environment is there', () => {
  expect(commandEnvironment(['/opt/node/bin'], { HELD: '/held', PATH: '/of/somebody' })).toEqual({ HELD: '/held', PATH: '/opt/node/bin:/opt/tools:/usr/local/bin:/usr/bin:/bin', HOME: '/home/agent', USER: 'agent', LOGNAME: 'agent', SHELL: '/bin/bash', LANG: 'C.UTF-8', TERM: 'dumb', TMPDIR: '/tmp' })
})

/** One option a line. Whoever changes a sandbox changes it here as well, and so says it twice. */
const lines = (list: readonly string[]): readonly string[] => list.join(' ').split(/ (?=--)/)
const isolating = (host: string): readonly string[] => [
  '--unshare-user', '--uid 1000', '--gid 1000', '--disable-userns', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', '--die-with-parent', '--new-session', '--cap-drop ALL', `--hostname ${host}`,
  '--ro-bind /usr /usr', '--symlink usr/bin /bin', '--ro-bind /lib32 /lib32', '--proc /proc', '--ro-bind /proc/sys /proc/sys', '--dev /dev', '--size 67108864', '--tmpfs /dev/shm', '--remount-ro /dev',
  '--size 536870912', '--tmpfs /tmp', '--dir /var', '--symlink ../tmp /var/tmp',
]
const settings = (...more: readonly string[]): readonly string[] => [
  ...['ssl', 'pki', 'ca-certificates', 'crypto-policies', 'alternatives', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime', 'mime.types', ...more].map((name) => `--ro-bind-try /etc/${name} /etc/${name}`),
  ...['hosts', 'passwd', 'group', 'nsswitch.conf'].map((name) => `--ro-bind /run1/etc/${name} /etc/${name}`),
]
const work = ['--bind /data/ws /workspace', '--ro-bind /data/deps /workspace/node_modules', '--ro-bind /run1/opencode /workspace/.opencode', '--ro-bind /run1/empty.json /workspace/opencode.json']
const last = (folder: string): readonly string[] => ['--remount-ro /', `--chdir ${folder}`, '--seccomp 4', '--json-status-fd 5']

describe('nothing but this, in this order, is what is given to', () => {
  test('the agent', () => {
    expect(lines(agent)).toEqual([
      ...isolating('agent'), ...settings(), '--ro-bind /dev/null /usr/bin/bash', '--ro-bind /dev/null /usr/bin/git', '--bind /data/state /home/agent', ...work, '--ro-bind /opt/oc /opt/opencode/opencode', '--ro-bind /run1/app /opt/app',
      '--ro-bind /usr/bin/dash /opt/app/sh', '--ro-bind /run1/egress /run/app/egress', '--ro-bind /run1/broker.sock /run/app/broker.sock', '--bind /run1/ctl /run/ctl', ...last('/opt/app'),
    ])
  })

  test('a command', () => {
    expect(lines(command)).toEqual([...isolating('work'), ...settings('fonts'), '--size 67108864', '--tmpfs /home/agent', ...work, '--ro-bind /opt/oc /opt/opencode/opencode', '--ro-bind /run1/tools /opt/tools', ...last('/workspace/sub')])
  })

  test('a trial run, which has no OpenCode', () => {
    const trial = lines(commandArguments({ ...common, binaryPath: null, cwd: '/workspace' }))
    expect(trial).toEqual([...isolating('work'), ...settings('fonts'), '--size 67108864', '--tmpfs /home/agent', ...work, '--ro-bind /run1/tools /opt/tools', ...last('/workspace')])
  })

  test.each([['with a prompt', vendorShape, ['--ro-bind /run1/prompt.txt /run/app/prompt.txt']], ['without one', { ...vendorShape, promptFile: null }, []]] as const)('a vendor\'s program %s', (_how, shape, prompt) => {
    expect(lines(vendorArguments(shape))).toEqual([
      ...isolating('vendor'), ...settings('fonts'), '--bind /data/vendor /home/agent', '--size 67108864', '--tmpfs /workspace', '--ro-bind /v/lib /v/lib', '--ro-bind /opt/oc /opt/opencode/opencode', '--ro-bind /run1/app /opt/app',
      '--ro-bind /run1/egress /run/app/egress', ...prompt, '--bind /run1/ctl /run/ctl', ...last('/opt/app'),
    ])
  })
})

describe('every program waits at the gate and is under limits', () => {
  const gate = ['-c', 'echo 600 > /proc/self/oom_score_adj; echo r >&6 && read -r go <&6 && exec 6<&- && exec "$@"; exit 125', 'gate', '/usr/bin/prlimit', '--nproc=512', '--core=0', '--data=8589934592', '--fsize=2147483648']

  test('the agent, by the one shell that its sandbox has', () => { expect(limitedAgent(layout, defaultSandboxLimits, ['/opt/x', 'a b'])).toEqual(['/opt/app/sh', ...gate, '/opt/x', 'a b']) })
  test('a vendor\'s program', () => { expect(limitedVendor(layout, defaultSandboxLimits, ['/opt/x'])).toEqual(['/usr/bin/dash', ...gate, '/opt/x']) })
  test('a command, with its processor time', () => { expect(limitedCommand(layout, defaultSandboxLimits, 'x')).toEqual(['/usr/bin/dash', ...gate, '--cpu=1801:1810', '/usr/bin/bash', '-c', 'x']) })

  test('the owner\'s limits, where those are others', () => {
    const owners = { memoryBytesMax: 6 * 2 ** 30, processesMax: 200, commandCpuMsMax: 120_000, fileBytesMax: 64 * 2 ** 20 }
    const own = [...gate.slice(0, 4), '--nproc=200', '--core=0', '--data=12884901888', '--fsize=67108864']
    expect(limitedAgent(layout, owners, ['/opt/x'])).toEqual(['/opt/app/sh', ...own, '/opt/x'])
    expect(limitedVendor(layout, owners, ['/opt/x'])).toEqual(['/usr/bin/dash', ...own, '/opt/x'])
    expect(limitedCommand(layout, owners, 'x')).toEqual(['/usr/bin/dash', ...own, '--cpu=121:130', '/usr/bin/bash', '-c', 'x'])
  })
})
