import { deniedCalls, type Architecture } from '../../../src-main/adapters/sandbox/seccomp.ts'
import { denied, given, unfindable, type Probe } from './probe.ts'

/** Harmless when allowed: with these arguments each call fails behind the door, or does nothing. Not so for those that switch something off. */
const switchesOff: ReadonlySet<string> = new Set(['kexec_load', 'kexec_file_load', 'acct', 'reboot', 'swapoff'])
/** Root outside of a sandbox gets past the door of these; for others it depends on the kernel's build or settings. */
const doorForRoot: ReadonlySet<string> = new Set(['keyctl', 'mount', 'umount2', 'pivot_root', 'setns', 'unshare', 'syslog', 'swapon', 'open_by_handle_at', 'fsopen', 'fspick', 'move_mount', 'bpf', 'perf_event_open'])

/** EPERM (1) and ENOSYS (38) are what the filter says; anything else comes from the call itself. */
const calls = (number: number): string => `perl -e '$b = "\\0" x 128; $! = 0; $r = syscall(${String(number)}, -1, $b, 0, 0, 0); exit($r < 0 && ($! + 0 == 1 || $! + 0 == 38) ? 1 : 0)'`

const here: Architecture = process.arch === 'arm64' ? 'arm64' : 'x64'

const callProbes: readonly Probe[] = Object.entries(deniedCalls(here)).map(([name, number]) => denied(`the kernel's ${name}`, () => calls(number), switchesOff.has(name) || !doorForRoot.has(name) ? 'nobody' : 'root'))

/** Processes, rights and the kernel. */
export const processProbes: readonly Probe[] = [
  denied('a process of this host, in the list', (on) => `bash -c 'tr "\\0" " " < /proc/${String(on.hostPid)}/cmdline | grep -q "sleep 98"'`),
  denied('a process of this host, by a signal', (on) => `kill -0 ${String(on.hostPid)}`),
  denied('a process of this host, by its number in an ancestor\'s count', (on) => `bash -c 'grep -q "NSpid:.*${String(on.hostPid)}" /proc/[0-9]*/status'`),
  denied('the environment of a process of this host', (on) => `bash -c 'cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n" | grep -q ${unfindable(on.secret)}'`),
  denied('its tracing', (on) => `perl -e 'syscall(${here === 'x64' ? '101' : '117'}, 16, ${String(on.hostPid)}, 0, 0) == 0 or die'`, 'nobody'),
  denied('more than a handful of processes', () => 'bash -c \'[ $(ls -d /proc/[0-9]* | wc -l) -gt 12 ]\''),
  denied('a secret in the environment', () => 'bash -c \'env | grep -qiE "password|token|secret|api_?key|OPENCODE|ANTHROPIC|OPENAI|SSH_AUTH|XDG_RUNTIME|DBUS|DISPLAY"\'', 'nobody'),
  denied('the environment of the app', (on) => `bash -c 'env | grep -q ${unfindable(on.secret)}'`),
  denied('a path of this host, in the first process\'s arguments', (on) => `bash -c 'tr "\\0" " " < /proc/1/cmdline | grep -q ${unfindable(on.dir)}'`, 'nobody'),
  denied('a file that the app has open', () => 'bash -c \'for f in /proc/self/fd/*; do [ "${f##*/}" -gt 3 ] && [ -e "$f" ] && exit 0; done; exit 1\'', 'nobody'),
  denied('capabilities', () => 'bash -c \'grep -E "^Cap(Inh|Prm|Eff|Bnd|Amb)" /proc/self/status | grep -qv 0000000000000000\''),
  denied('to become root by a program with that right', () => 'bash -c \'grep -q "NoNewPrivs:.0" /proc/self/status || [ $(id -u) = 0 ]\''),
  denied('a mounted system that gives such rights', () => 'bash -c \'grep " /usr " /proc/mounts | grep -qv nosuid\'', 'nobody'),
  denied('to have no filter', () => 'bash -c \'grep -q "^Seccomp:.0" /proc/self/status\''),
  denied('a user namespace', () => 'unshare -Ur true', 'nobody'),
  denied('a network namespace', () => 'unshare -n true', 'root'),
  denied('a mount namespace', () => 'unshare -m true', 'root'),
  denied('a process namespace by clone', () => `perl -e '$r = syscall(${here === 'x64' ? '56' : '220'}, 0x20000000 | 17, 0, 0, 0, 0); exit 0 if defined $r && $r == 0; exit($r > 0 ? 0 : 1)'`, 'root'),
  denied('a mount', () => 'mount -t tmpfs none /tmp', 'nobody'),
  denied('a mount of the system again, for writing', () => 'mount -o remount,rw /usr', 'nobody'),
  denied('another root', () => 'chroot / true', 'root'),
  denied('the namespaces of another process', () => 'nsenter -t 1 -m true', 'nobody'),
  denied('another name of the machine', () => 'hostname other', 'nobody'),
  denied('another time', () => 'date -s 2001-01-01', 'nobody'),
  denied('to go first', () => 'perl -e \'setpriority(0, 0, getpriority(0, 0) - 1) or die\'', 'root'),
  denied('to be served in real time', () => 'chrt -f 10 true', 'nobody'),
  denied('to lift its own limits', () => 'bash -c \'ulimit -u unlimited || ulimit -c unlimited || ulimit -f unlimited || ulimit -d unlimited\'', 'nobody'),
  denied('to be spared when memory runs out', () => 'bash -c \'echo -1000 > /proc/self/oom_score_adj\'', 'nobody'),
  denied('the messages of the kernel', () => 'dmesg', 'root'),
  denied('a job for later', () => 'bash -c \'echo x > /var/spool/cron/x || crontab -l || systemctl list-units\'', 'nobody'),
  ...callProbes,
  given('to know its own processes', () => 'bash -c \'[ -r /proc/self/status ] && kill -0 $$\''),
  given('to run tests without anything installed', () => 'bun --version'),
]
