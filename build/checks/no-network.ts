import { exitCodeOf } from '../runtime/run-command.ts'

// `ip` where it is installed; else the same ioctl (SIOCSIFFLAGS, up and loopback) through perl, which each Debian has.
const loopbackUp = String.raw`ip link set lo up 2>/dev/null || perl -e 'socket(my $s, 2, 2, 0) && ioctl($s, 0x8914, pack("a16 s x14", "lo", 0x49)) or die "lo cannot be brought up: $!\n"'`

/**
 * Runs `command` and all of its children in a network namespace of their own that has nothing but loopback, and gives its exit code. Root's
 * run has its own mounts, too, which tests may change; others do it through a user namespace in which their own account stays what it is,
 * and hand none of its powers on.
 */
export async function exitCodeWithoutNetwork(command: string, args: readonly string[], options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }): Promise<number> {
  const root = process.getuid?.() === 0
  const unshare = root ? ['--net', '--mount'] : ['--user', '--map-current-user', '--keep-caps', '--net']
  const dropped = root ? '' : 'setpriv --ambient-caps -all --inh-caps -all -- '
  return exitCodeOf('unshare', [...unshare, '--', 'sh', '-c', `{ ${loopbackUp}; } && exec ${dropped}"$@"`, 'sh', command, ...args], options)
}
