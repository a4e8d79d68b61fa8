import { execFile } from 'node:child_process'
import { lchown, lstat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { promisify } from 'node:util'

/**
 * Who sandboxes run as when the app runs as root. A real uid 0 inside would not be bound by the number of processes, and whatever got out would own
 * the machine. The number is one that neither logins nor system services are given (systemd's "UIDS-GIDS": 60578 to 61183 are unused), and small
 * enough for a container's map of 65,536.
 */
export const strangerId = 60_911

/** Programs, all of them util-linux and coreutils, by which root becomes nobody special. */
export interface DropPrograms { readonly unshare: string; readonly mount: string; readonly mkdir: string; readonly setpriv: string; readonly sh: string }

const execute = promisify(execFile)

/** Whether this process is root, so that every sandbox must be given another id first. */
export const isRoot = (): boolean => process.getuid?.() === 0

/** Folders that never change hands, whoever asks. */
const neverHandedOver: readonly string[] = ['/', '/home', '/root', '/usr', '/etc', '/var', '/tmp', homedir()]

/**
 * As root: gives `path`, a folder or file of ours with everything in it, to the sandboxes' id; else does nothing. Links are changed themselves and
 * not followed. Only to be called while nobody runs in it: then nobody can swap a folder for a link meanwhile. `once`: the folder's own owner says that
 * it was done before, so the top is given away last. Throws what the system throws.
 */
export async function handOver(path: string, once = false): Promise<void> {
  if (!isRoot()) return
  if (neverHandedOver.includes(path)) throw new Error(`${path} is not the app's to give away`)
  if (once && (await lstat(path)).uid === strangerId) return
  const owner = `${String(strangerId)}:${String(strangerId)}`
  if ((await lstat(path)).isDirectory()) await execute('find', ['-P', path, '-mindepth', '1', '-exec', 'chown', '-h', owner, '--', '{}', '+'], { env: { PATH: '/usr/bin:/bin' }, maxBuffer: 1024 * 1024 })
  await lchown(path, strangerId, strangerId)
}

/** Places that anybody can reach; what lies elsewhere may be below a folder that only root may enter. */
const reachable = ['/usr', '/etc', '/proc', '/dev', '/lib', '/lib32', '/lib64', '/libx32', '/bin', '/sbin'] as const
const isReachable = (path: string): boolean => reachable.some((place) => path === place || path.startsWith(`${place}/`))

/** Where the stage can be: folders that each Linux has and that nothing is served from, first choice first. */
const stagePlaces = ['/mnt', '/srv', '/media', '/opt', '/tmp'] as const

const bindOptions: ReadonlySet<string> = new Set(['--bind', '--ro-bind', '--ro-bind-try'])

/** bwrap's options with sources that anybody reaches, and what has to be shown where for that. */
export interface Staged { readonly place: string; readonly options: readonly string[]; readonly sources: readonly string[]; readonly bwrapPath: string }

/**
 * Replaces the sources that only root may reach by places on a stage: a file system of a mount namespace of its own, which nobody else sees and which
 * is gone with it. `options` are bwrap's, as `bubblewrap-arguments.ts` makes them. Throws when no place is free.
 */
export function staged(options: readonly string[], bwrapPath: string): Staged {
  const wanted = [...options.filter((_word, at) => bindOptions.has(options[at - 1] ?? '')), bwrapPath]
  const place = stagePlaces.find((candidate) => !wanted.some((source) => source === candidate || source.startsWith(`${candidate}/`)))
  if (place === undefined) throw new Error('no folder is free for the stage of a sandbox')
  const sources: string[] = []
  const onStage = (source: string): string => {
    if (isReachable(source)) return source
    if (!sources.includes(source)) sources.push(source)
    return `${place}/${String(sources.indexOf(source))}`
  }
  const shown = options.map((word, at) => (bindOptions.has(options[at - 1] ?? '') ? onStage(word) : word))
  return { place, options: shown, bwrapPath: onStage(bwrapPath), sources }
}

/** Shows each source on the stage, then becomes the rest of its arguments. All programs by full path: the environment is the sandbox's already. */
const stageScript = `set -e
place=$1 mount=$2 mkdir=$3 count=$4; shift 4
"$mount" -n -t tmpfs -o mode=0711,nosuid,nodev,size=1m tmpfs "$place"
at=0
while [ $at -lt $count ]; do
  if [ -d "$1" ]; then "$mkdir" "$place/$at"; else : > "$place/$at"; fi
  "$mount" -n --rbind -- "$1" "$place/$at"
  shift; at=$((at+1))
done
unset PWD OLDPWD
exec "$@"`

/**
 * Program and arguments that show the sources on the stage, give up root for good, and become bwrap: under the same process id all along, so that it
 * still dies with us. `bwrapArguments` are what follows its name.
 */
export function droppedCommand(programs: DropPrograms, stage: Staged, bwrapArguments: readonly string[]): readonly [program: string, args: readonly string[]] {
  const id = String(strangerId)
  return [programs.unshare, [
    '--mount', '--propagation', 'private', '--', programs.sh, '-c', stageScript, 'stage', stage.place, programs.mount, programs.mkdir, String(stage.sources.length), ...stage.sources,
    programs.setpriv, '--reuid', id, '--regid', id, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all', '--', stage.bwrapPath, ...bwrapArguments,
  ]]
}
