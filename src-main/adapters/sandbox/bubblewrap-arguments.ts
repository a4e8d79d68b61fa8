import { dirname } from 'node:path'
import { isolationLimits } from '../../../src-preload/contract/limits.ts'
import type { SandboxLimits } from '../../../src-preload/contract/task.ts'
import type { HostLayout } from './host-layout.ts'
import { insidePaths } from './inside-paths.ts'
import { sandboxLimits } from './sandbox-limits.ts'

/** A host path that shows inside. */
export interface Bind { readonly from: string; readonly into: string; readonly write: boolean }

/** Something of the workspace that no sandbox may see or change: covered by an empty, read-only one. Path relative to the workspace. */
export interface Mask { readonly path: string; readonly kind: 'folder' | 'file' }

/** Files of ours that both kinds of sandbox need: host paths. */
export interface SharedFiles { readonly etc: string; readonly app: string; readonly tools: string; readonly emptyJson: string; readonly emptyFolder: string }

/** File descriptors, as bwrap sees them. `args` carries this very list, so that no host path stands in a command line; `gate` goes through to the first program. */
export const descriptors = { args: 3, seccomp: 4, status: 5, gate: 6 } as const

interface Common {
  readonly layout: HostLayout
  readonly files: SharedFiles
  readonly workspaceDir: string
  readonly masks: readonly Mask[]
  /** Dependencies, toolchains and other chosen folders, in the order of mounting. */
  readonly binds: readonly Bind[]
}
export interface AgentShape extends Common { readonly stateDir: string; readonly binaryPath: string; readonly egressSocketPath: string; readonly brokerSocketPath: string; readonly controlDir: string }
export interface CommandShape extends Common { readonly binaryPath: string | null; readonly cwd: string }

const bind = (entry: Bind): readonly string[] => [entry.write ? '--bind' : '--ro-bind', entry.from, entry.into]
const readOnly = (from: string, into: string): readonly string[] => bind({ from, into, write: false })

/** Own user, process, network, ipc, host-name and cgroup namespaces; nobody inside may make another; no capabilities; gone when we are gone. */
function namespaces(hostName: string): readonly string[] {
  return [
    '--unshare-user', '--uid', '1000', '--gid', '1000', '--disable-userns', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try',
    '--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--hostname', hostName,
  ]
}

const etcEntries = {
  agent: ['ssl', 'pki', 'ca-certificates', 'crypto-policies', 'alternatives', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime', 'mime.types'],
  command: ['ssl', 'pki', 'ca-certificates', 'crypto-policies', 'alternatives', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime', 'mime.types', 'fonts'],
} as const

function system(layout: HostLayout, files: SharedFiles, etc: readonly string[]): readonly string[] {
  return [
    ...readOnly('/usr', '/usr'),
    ...layout.systemLinks.flatMap((link) => ['--symlink', link.target, link.at]),
    ...layout.systemFolders.flatMap((folder) => readOnly(folder, folder)),
    '--proc', '/proc',
    // With a real uid 0 bwrap leaves it writable, and core_pattern is a way out to the host.
    ...readOnly('/proc/sys', '/proc/sys'),
    '--dev', '/dev',
    // bwrap's /dev would hold as much as half of the machine's memory.
    '--size', String(sandboxLimits.sharedMemoryBytes), '--tmpfs', '/dev/shm', '--remount-ro', '/dev',
    '--size', String(sandboxLimits.tmpBytes), '--tmpfs', '/tmp',
    '--dir', '/var', '--symlink', '../tmp', '/var/tmp',
    ...etc.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ...['hosts', 'passwd', 'group', 'nsswitch.conf'].flatMap((name) => readOnly(`${files.etc}/${name}`, `/etc/${name}`)),
  ]
}

/** The masks come after whatever they lie in and nothing is mounted after them below the workspace. */
function workspace(shape: Common): readonly string[] {
  return [
    ...bind({ from: shape.workspaceDir, into: insidePaths.workspace, write: true }),
    ...shape.binds.flatMap(bind),
    ...shape.masks.flatMap((mask) => readOnly(mask.kind === 'folder' ? shape.files.emptyFolder : shape.files.emptyJson, `${insidePaths.workspace}/${mask.path}`)),
  ]
}

const ending = (cwd: string): readonly string[] => ['--remount-ro', '/', '--chdir', cwd, '--seccomp', String(descriptors.seccomp), '--json-status-fd', String(descriptors.status)]

/**
 * bwrap's options for the agent's sandbox, without the command. It starts in our own read-only folder (see `scripts.ts`),
 * has the private state as its home, the three sockets, and no program that interprets commands except behind `insidePaths.shell`.
 */
export function agentArguments(shape: AgentShape): readonly string[] {
  return [
    ...namespaces('agent'),
    ...system(shape.layout, shape.files, etcEntries.agent),
    ...shape.layout.interpreters.flatMap((path) => readOnly('/dev/null', path)),
    ...bind({ from: shape.stateDir, into: insidePaths.home, write: true }),
    ...workspace(shape),
    ...readOnly(shape.binaryPath, insidePaths.openCode),
    ...readOnly(shape.files.app, insidePaths.app),
    ...readOnly(shape.layout.plainShell, insidePaths.plainShell),
    ...readOnly(dirname(shape.egressSocketPath), insidePaths.egressFolder),
    ...readOnly(shape.brokerSocketPath, insidePaths.brokerSocket),
    ...bind({ from: shape.controlDir, into: insidePaths.controlFolder, write: true }),
    ...ending(insidePaths.app),
  ]
}

/** bwrap's options for one command's sandbox, without the command: the workspace, an empty home, no sockets and no state of the agent. */
export function commandArguments(shape: CommandShape): readonly string[] {
  return [
    ...namespaces('work'),
    ...system(shape.layout, shape.files, etcEntries.command),
    '--size', String(sandboxLimits.commandHomeBytes), '--tmpfs', insidePaths.home,
    ...workspace(shape),
    ...(shape.binaryPath === null ? [] : readOnly(shape.binaryPath, insidePaths.openCode)),
    ...readOnly(shape.files.tools, insidePaths.tools),
    ...ending(shape.cwd),
  ]
}

/** A vendor's own program: host paths. `promptFile` null: there is none. */
export interface VendorShape {
  readonly layout: HostLayout
  readonly files: SharedFiles
  readonly homeDir: string
  readonly binds: readonly Bind[]
  readonly binaryPath: string
  readonly egressFolder: string
  readonly controlDir: string
  readonly promptFile: string | null
}

/** bwrap's options for a vendor's program, without the command: its home, what it may read, its one way out; nothing of a task. */
export function vendorArguments(shape: VendorShape): readonly string[] {
  return [
    ...namespaces('vendor'),
    ...system(shape.layout, shape.files, etcEntries.command),
    ...bind({ from: shape.homeDir, into: insidePaths.home, write: true }),
    '--size', String(sandboxLimits.commandHomeBytes), '--tmpfs', insidePaths.workspace,
    ...shape.binds.flatMap(bind),
    ...readOnly(shape.binaryPath, insidePaths.openCode),
    ...readOnly(shape.files.app, insidePaths.app),
    ...readOnly(shape.egressFolder, insidePaths.egressFolder),
    ...(shape.promptFile === null ? [] : readOnly(shape.promptFile, insidePaths.promptFile)),
    ...bind({ from: shape.controlDir, into: insidePaths.controlFolder, write: true }),
    ...ending(insidePaths.app),
  ]
}

/** When the machine runs out of memory, the kernel ends a sandbox before it ends the app (proc(5), `oom_score_adj`). */
const outOfMemoryScore = 600

/**
 * Holds a program back until the host says go, and never starts it when the host is gone. (bwrap's own `--block-fd` takes the
 * host's death for a go; and until its first process has asked for a parent-death signal nothing would end it.) Says `r` when it waits.
 */
const gateScript = `echo ${outOfMemoryScore} > /proc/self/oom_score_adj; echo r >&${descriptors.gate} && read -r go <&${descriptors.gate} && exec ${descriptors.gate}<&- && exec "$@"; exit 125`

/** `command` behind the gate. `shell`: path inside of a plain shell. */
export function gated(shell: string, command: readonly string[]): readonly string[] {
  return [shell, '-c', gateScript, 'gate', ...command]
}

/** What one process may have. */
export const processMemoryBytes = ({ memoryBytesMax }: SandboxLimits): number => Math.max(isolationLimits.processMemoryBytesMin, 2 * memoryBytesMax)

/** Limits are set inside, where they count this sandbox only. No core dumps: the host's handler would keep them. */
const limited = (layout: HostLayout, limits: SandboxLimits): readonly string[] => [layout.prlimit, `--nproc=${limits.processesMax}`, '--core=0', `--data=${processMemoryBytes(limits)}`, `--fsize=${limits.fileBytesMax}`]

/** The agent's program behind the gate and under its limits. */
export function limitedAgent(layout: HostLayout, limits: SandboxLimits, command: readonly string[]): readonly string[] {
  return gated(insidePaths.plainShell, [...limited(layout, limits), ...command])
}

/** A vendor's program behind the gate and under its limits; it may be a script, so its sandbox keeps the system's interpreters. */
export function limitedVendor(layout: HostLayout, limits: SandboxLimits, command: readonly string[]): readonly string[] {
  return gated(layout.plainShell, [...limited(layout, limits), ...command])
}

/** A command behind the gate and under its limits: the shell gets the exact text as one argument. The kernel's bound on processor time
 * stands behind the watch's, which knows what it ended: first the signal that says so, and only then the one that says nothing. */
export function limitedCommand(layout: HostLayout, limits: SandboxLimits, text: string): readonly string[] {
  const cpuSeconds = limits.commandCpuMsMax / 1_000
  return gated(layout.plainShell, [...limited(layout, limits), `--cpu=${cpuSeconds + 1}:${cpuSeconds + 10}`, layout.commandShell, '-c', text])
}

/** The whole environment of a command. Chosen toolchains come before what the system has; `named`: places that the command finds by a variable. */
export function commandEnvironment(toolchainEntries: readonly string[], named: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return {
    ...named,
    PATH: [...toolchainEntries, insidePaths.tools, '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    HOME: insidePaths.home, USER: 'agent', LOGNAME: 'agent', SHELL: '/bin/bash', LANG: 'C.UTF-8', TERM: 'dumb', TMPDIR: '/tmp',
  }
}
