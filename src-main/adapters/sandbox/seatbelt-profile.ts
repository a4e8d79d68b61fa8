import { dirname } from 'node:path'

/**
 * macOS; never tried on a Mac. Profiles in the language of sandbox-exec. There are no mount namespaces there, so every path is one of the host, real
 * all the way (a profile does not follow links, and `/tmp` and `/var` are links on macOS); and no process namespace: see `seatbelt-keeper.ts` for how a
 * tree is ended. The last rule that fits decides. Only operations that macOS 12 knows are named: with an unknown one no profile is taken at all.
 */
interface Common {
  readonly workspaceDir: string
  /** Names at the top of the workspace of which nothing must be read or changed. */
  readonly masked: readonly string[]
  /** The owner's home: denied whole, except what is allowed by name. */
  readonly homeDir: string
  /** Folders and files that may be read, wherever they lie. */
  readonly readOnly: readonly string[]
}

/** One command. */
export interface SeatbeltShape extends Common {
  /** Its home and temporary folder, empty at first. */
  readonly privateDir: string
}

/** The agent itself. */
export interface SeatbeltAgentShape extends Common {
  readonly stateDir: string
  readonly temporaryDir: string
  /** The folder of our scripts. */
  readonly appDir: string
  /** Where the bridge's socket is made; the only socket that may be. */
  readonly controlDir: string
  readonly controlSocket: string
  /** Sockets of the host that may be dialled: the broker's and the model proxy's. */
  readonly hostSockets: readonly string[]
  /** The only programs that may be started: OpenCode, the broker's client with its interpreter, the search program. */
  readonly programs: readonly string[]
  /** The only ports of the loopback: the bridge's way to the proxy, and OpenCode's own. macOS shares the loopback with the whole machine. */
  readonly ports: readonly number[]
}

/** A string of the profile's language (a Scheme): only the quote and the backslash mean something in it. Throws for what cannot be written. */
function quoted(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new RangeError('a path with control characters cannot be written into a profile')
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

type Kind = 'subpath' | 'literal' | 'global-name' | 'sysctl-name-prefix'
const each = (kind: Kind, list: readonly string[]): string => list.map((text) => `(${kind} ${quoted(text)})`).join(' ')
const rule = (verdict: 'allow' | 'deny', operation: string, kind: Kind, list: readonly string[]): readonly string[] => (list.length === 0 ? [] : [`(${verdict} ${operation} ${each(kind, list)})`])

/** What programs of the system need to start: libraries, frameworks, developer tools, time zones, the shared cache of the linker. */
const systemFolders = ['/usr', '/bin', '/sbin', '/System/Library', '/System/Cryptexes', '/System/Volumes/Preboot/Cryptexes', '/Library/Apple', '/Library/Developer/CommandLineTools', '/Applications/Xcode.app/Contents/Developer', '/opt/homebrew', '/private/etc/ssl', '/private/var/db/timezone', '/private/var/db/dyld', '/private/var/select'] as const
/** The root is read by the linker whenever a program starts. */
const systemFiles = ['/', '/private/etc/hosts', '/private/etc/localtime', '/private/etc/protocols', '/private/etc/services', '/private/var/db/xcode_select_link'] as const
const devices = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom', '/dev/stdin', '/dev/stdout', '/dev/stderr', '/dev/dtracehelper'] as const

/** Services by which a program gets others to act for it: the keychain, trust settings, Apple events, opening with another app, launching, the clipboard. */
const neverServices = ['com.apple.SecurityServer', 'com.apple.securityd', 'com.apple.securityd.xpc', 'com.apple.trustd', 'com.apple.trustd.agent', 'com.apple.coreservices.appleevents', 'com.apple.CoreServices.coreservicesd', 'com.apple.lsd.mapdb', 'com.apple.lsd.open', 'com.apple.coreservices.launchservicesd', 'com.apple.pasteboard.1', 'com.apple.windowserver.active', 'com.apple.tccd', 'com.apple.tccd.system'] as const
/** Programs by which a program gets others to act for it, now or later. */
const neverPrograms = ['/usr/bin/osascript', '/usr/bin/open', '/bin/launchctl', '/usr/bin/security', '/usr/bin/crontab', '/usr/bin/at', '/usr/bin/batch'] as const

/** Everything denied, then what a program needs to run at all. Of other processes it learns neither arguments nor environment. */
const opening: readonly string[] = [
  '(version 1)',
  '(deny default)',
  '(allow process-fork)',
  '(allow signal (target same-sandbox))',
  '(allow process-info* (target same-sandbox))',
  '(allow sysctl-read)',
  ...rule('deny', 'sysctl-read', 'sysctl-name-prefix', ['kern.proc']),
  ...rule('allow', 'sysctl-read', 'sysctl-name-prefix', ['kern.proc.pid.', 'kern.proc.pgrp.']),
  '(allow mach-host*)',
  '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
  '(allow dynamic-code-generation)',
  '(allow file-map-executable)',
  '(allow file-read-metadata)',
  ...rule('allow', 'file-read*', 'subpath', systemFolders),
  ...rule('allow', 'file-read*', 'literal', systemFiles),
  ...rule('allow', 'file-read* file-write-data file-ioctl', 'literal', devices),
  ...rule('allow', 'file-read* file-write-data', 'subpath', ['/dev/fd']),
]

/** What stays denied whatever came before. */
const closing: readonly string[] = [
  ...rule('deny', 'mach-lookup', 'global-name', neverServices),
  '(deny lsopen)',
  '(deny appleevent-send)',
  ...rule('deny', 'process-exec*', 'literal', neverPrograms),
  '(deny file-write-setugid)',
  '(deny mach-priv-task-port)',
]

/** All folders that the paths lie in: they may be looked at, not listed, so that a path of its own can be told by a program. */
function above(paths: readonly string[]): readonly string[] {
  const found = new Set<string>()
  for (const path of paths) for (let at = dirname(path); at !== '/'; at = dirname(at)) found.add(at)
  return [...found].sort()
}

/** The home is closed, then what lies in it is opened by name. */
function files({ homeDir, readOnly }: Common, writable: readonly string[], sockets: readonly string[]): readonly string[] {
  return [
    ...rule('deny', 'file-read* file-write*', 'subpath', [homeDir]),
    ...rule('allow', 'file-read-metadata', 'literal', above([...readOnly, ...writable, ...sockets])),
    ...rule('allow', 'file-read*', 'subpath', readOnly),
    ...rule('allow', 'file-read* file-write*', 'subpath', writable),
    ...rule('allow', 'file-read* file-write-data', 'literal', sockets),
  ]
}

/** macOS takes names that differ in case, or in the long s, for the same one; a profile does not. */
const anyCase = (name: string): string => [...name].map((sign) => {
  const [lower, upper] = [sign.toLowerCase(), sign.toUpperCase()]
  if (lower === upper) return literally(sign)
  return lower === 's' ? '(s|S|ſ)' : `[${lower}${upper}]`
}).join('')
const literally = (text: string): string => text.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&')

/** After all that opens the workspace: what is masked in it, with everything below, is neither read, made nor changed. */
function masks({ workspaceDir, masked }: Common): readonly string[] {
  return masked.map((name) => `(deny file-read* file-write* (regex ${quoted(`^${literally(workspaceDir)}/${anyCase(name)}(/|$)`)}))`)
}

/** The profile of one command: workspace and private folder, no network at all. */
export function seatbeltProfile(shape: SeatbeltShape): string {
  return [
    ...opening,
    '(allow process-exec*)',
    '(allow ipc-posix-sem)',
    ...files(shape, [shape.workspaceDir, shape.privateDir], []),
    ...masks(shape),
    '(deny network*)',
    ...closing,
  ].join('\n')
}

/**
 * The profile of the agent: its folders, the sockets and ports that lead to the host, and no program but those by name. An outbound rule names the other
 * end (`remote`) only: one that names the own end would fit every connection.
 */
export function seatbeltAgentProfile(shape: SeatbeltAgentShape): string {
  const ports = (end: 'local' | 'remote'): string => shape.ports.map((port) => `(${end} ip "localhost:${String(port)}")`).join(' ')
  return [
    ...opening,
    ...rule('allow', 'process-exec*', 'literal', shape.programs),
    ...files({ ...shape, readOnly: [...shape.readOnly, ...shape.programs, shape.appDir] }, [shape.workspaceDir, shape.stateDir, shape.temporaryDir, shape.controlDir], shape.hostSockets),
    ...masks(shape),
    '(allow system-socket (socket-domain AF_INET) (socket-domain AF_INET6) (socket-domain AF_UNIX))',
    `(allow network-bind network-inbound ${ports('local')} (local unix-socket (path-literal ${quoted(shape.controlSocket)})))`,
    `(allow network-outbound ${ports('remote')} ${shape.hostSockets.map((path) => `(remote unix-socket (path-literal ${quoted(path)}))`).join(' ')})`,
    ...closing,
  ].join('\n')
}
