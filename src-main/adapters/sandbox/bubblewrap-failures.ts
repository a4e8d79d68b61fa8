import { failure, type Failure } from '../../../src-preload/contract/failure.ts'

interface Known { readonly sign: RegExp; readonly message: string; readonly todo: string | ((bwrapPath: string) => string) }

/** An AppImage is mounted under another name at each start, which no profile can name. */
const mountedAppImage = '/tmp/.mount_'

/** AppArmor knows programs by where they are. */
function appArmorTodo(bwrapPath: string): string {
  if (bwrapPath.startsWith(mountedAppImage)) return 'Ubuntu 24.04 and later allow this only to programs with a profile, which a program inside an AppImage cannot have. Install bubblewrap (sudo apt install bubblewrap) and check again: what is said then names the profile that it needs.'
  return `Ubuntu 24.04 and later allow this only to programs with a profile. Create /etc/apparmor.d/bwrap with the line “abi <abi/4.0>,”, then “include <tunables/global>”, then “profile bwrap "${bwrapPath}" flags=(unconfined) { userns, }”, run: sudo systemctl reload apparmor, and check again.`
}

/** bwrap's complaints, most telling first. Seen on: Debian 12, Ubuntu 24.04, containers. */
const known: readonly Known[] = [
  { sign: /^(unshare|mount|setpriv|stage): /m, message: 'The app runs as root, sandboxes never do, and this system does not let root start one as somebody else.', todo: 'Run the app as an ordinary user. Inside a container, give the container CAP_SYS_ADMIN or an ordinary user.' },
  { sign: /spawn .*ENOENT/, message: 'bubblewrap is not installed, so nothing can be run safely.', todo: 'Install it (Debian, Ubuntu: sudo apt install bubblewrap; Fedora: sudo dnf install bubblewrap; Arch: sudo pacman -S bubblewrap), then check again.' },
  { sign: /spawn .*EACCES/, message: 'bubblewrap is there but may not be run by you.', todo: 'Give the bwrap program execute permission, or install the bubblewrap package again.' },
  { sign: /Unknown option|unknown option/, message: 'The installed bubblewrap is too old: it lacks an option that this app relies on.', todo: 'Install bubblewrap 0.8.0 or later, then check again.' },
  { sign: /Failed RTM_NEWADDR|setting up uid map: Permission denied/, message: 'The system lets bubblewrap make a user namespace but not use it: AppArmor restricts it.', todo: appArmorTodo },
  { sign: /No permissions to creat\w+ new namespace/, message: 'This system does not let ordinary users make user namespaces.', todo: 'Allow them: sudo sysctl -w kernel.unprivileged_userns_clone=1 (Debian), or ask your administrator. Inside a container they have to be allowed by the container.' },
  { sign: /nesting depth or .*namespaces exceeded|No space left on device.*namespace/, message: 'This system allows no more user namespaces.', todo: 'Raise the limit: sudo sysctl -w user.max_user_namespaces=15000, then check again.' },
  { sign: /Creating new namespace failed/, message: 'This system refuses to make the namespaces that the sandbox needs.', todo: 'In a container, allow user namespaces (for Docker a seccomp profile that permits unshare and clone). Otherwise ask your administrator.' },
  { sign: /mount proc/, message: 'A process namespace of its own could not get its /proc: this looks like a container with a masked /proc.', todo: 'Run the app outside the container, or give the container an unmasked /proc.' },
  { sign: /prlimit: failed to set/, message: 'Whoever started the app may have no more than a limit of the sandbox allows, and a sandbox cannot be given more.', todo: 'Lower the limits in Settings → Isolation, or raise those of your account (ulimit -H, /etc/security/limits.conf) and start the app again.' },
  { sign: /PR_SET_SECCOMP|seccomp/, message: 'The kernel does not accept the system-call filter.', todo: 'Use a kernel with CONFIG_SECCOMP_FILTER.' },
]

/** Says what bwrap's complaint means and what to do. `text`: what it wrote, or the error of starting it. `bwrapPath`: which one it was. */
export function explainBubblewrap(text: string, bwrapPath: string): Failure {
  const found = known.find((entry) => entry.sign.test(text))
  if (found !== undefined) return failure('isolation-unavailable', found.message, typeof found.todo === 'string' ? found.todo : found.todo(bwrapPath))
  const said = text.trim().split('\n').at(-1)?.slice(0, 500) ?? ''
  return failure('sandbox-failed', said === '' ? 'The sandbox ended before it was set up and said nothing.' : `The sandbox could not be set up: ${said}`, 'Check Settings → Isolation. The message of bubblewrap says what it missed.')
}
