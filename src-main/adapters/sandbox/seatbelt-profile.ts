/**
 * macOS. The profile of one command, in the language of sandbox-exec; never tried on a Mac. There are no mount namespaces there, so every path is one
 * of the host, and no process namespace: see `seatbelt-run.ts` for how a tree is ended.
 */
export interface SeatbeltShape {
  /** Real paths: the profile does not follow links (`/tmp` and `/var` are links on macOS). */
  readonly workspaceDir: string
  /** Its home and temporary folder, empty at first. */
  readonly privateDir: string
  readonly readOnly: readonly string[]
  /** Of the workspace, what must be neither read nor changed. */
  readonly masked: readonly string[]
  /** The owner's home: denied whole, except what is allowed by name. */
  readonly homeDir: string
}

/** A string of the profile's language (a Scheme): only the quote and the backslash mean something in it. Throws for what cannot be written. */
function quoted(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new RangeError('a path with control characters cannot be written into a profile')
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

const paths = (operation: string, kind: 'subpath' | 'literal', list: readonly string[]): readonly string[] => (list.length === 0 ? [] : [`(allow ${operation} ${list.map((path) => `(${kind} ${quoted(path)})`).join(' ')})`])

/** What programs of the system need to start: libraries, frameworks, time zones, the shared cache of the linker. */
const systemFolders = ['/usr', '/bin', '/sbin', '/System/Library', '/System/Cryptexes', '/System/Volumes/Preboot/Cryptexes', '/Library/Apple', '/private/var/db/timezone', '/private/var/db/dyld', '/Library/Developer/CommandLineTools', '/opt/homebrew', '/private/etc/ssl'] as const
const devices = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom', '/dev/fd', '/dev/stdin', '/dev/stdout', '/dev/stderr'] as const

/** Services by which a program gets others to act for it: the keychain, trust settings, Apple events, opening with another app, launching, the clipboard. */
const neverServices = ['com.apple.SecurityServer', 'com.apple.securityd', 'com.apple.securityd.xpc', 'com.apple.trustd', 'com.apple.trustd.agent', 'com.apple.coreservices.appleevents', 'com.apple.CoreServices.coreservicesd', 'com.apple.lsd.mapdb', 'com.apple.lsd.open', 'com.apple.coreservices.launchservicesd', 'com.apple.pasteboard.1', 'com.apple.windowserver.active', 'com.apple.tccd', 'com.apple.tccd.system'] as const

/** The profile: everything denied, then what is allowed, then what stays denied whatever came before; the last rule that fits decides. No network at all. */
export function seatbeltProfile(shape: SeatbeltShape): string {
  const inWorkspace = shape.masked.map((path) => `${shape.workspaceDir}/${path}`)
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-exec process-fork)',
    '(allow signal (target same-sandbox))',
    '(allow process-info* (target same-sandbox))',
    '(allow sysctl-read)',
    '(allow file-read-metadata)',
    ...paths('file-read*', 'subpath', [...systemFolders, ...shape.readOnly]),
    ...paths('file-read* file-write-data file-ioctl', 'literal', devices),
    `(deny file-read* file-write* (subpath ${quoted(shape.homeDir)}))`,
    ...paths('file-read*', 'subpath', shape.readOnly),
    ...paths('file-read* file-write*', 'subpath', [shape.workspaceDir, shape.privateDir]),
    ...inWorkspace.map((path) => `(deny file-read* file-write* (subpath ${quoted(path)}))`),
    '(deny network*)',
    `(deny mach-lookup ${neverServices.map((name) => `(global-name ${quoted(name)})`).join(' ')})`,
    '(deny lsopen)',
    '(deny appleevent-send)',
    '(deny process-exec (with no-log) (literal "/usr/bin/osascript") (literal "/usr/bin/open") (literal "/bin/launchctl") (literal "/usr/bin/security"))',
    '(deny file-write-setugid)',
    '(deny mach-priv-task-port)',
  ].join('\n')
}
