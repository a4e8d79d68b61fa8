import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { signalIfThere } from './process-table.ts'

/** How long a keeper may take to end all that it keeps, once it has begun, and how long one that is told to end may take to begin. */
const keeperEndsWithinMs = 5_000
const keeperBeginsWithinMs = 20_000
/** Who has ended counts in its group until somebody has taken note of that. */
const groupGoneWithinMs = 10_000

/** A plain shell that macOS has had since 10.15; `/bin/sh` there would start another one first. */
export const keeperShell = '/bin/dash'

/** File of a run folder that holds a keeper's word, for the case that the host dies. */
export const wordFilePrefix = 'word-'
export const lastWord = 'kept\nempty\n'

/**
 * Runs inside the profile and stays beside the program: where there is no process namespace, only one of the same sandbox can end all others of it
 * (each profile names folders of its own, so no two sandboxes are the same). It does so when the program ends, when the host says so and when the host is gone (its end of the pipe closes). First it makes sure that it is confined:
 * whoever can signal the host would reach every process of the owner with what follows. Its word goes to descriptor 3 and into a file (5), neither of which
 * the program has: `kept` when it begins, `empty` when a signal to all finds nobody any more. The program may kill it; then whoever listens to the host ends
 * the others and has the last word; else that one tells it until it is heard, which it is not before it waits. Arguments: the host's process, file size in 512 bytes, seconds of processor time, the owner's processes in all, the
 * folder to be in, the program. The limits are what the kernel keeps; of memory it keeps none.
 */
const keeper = `host=$1 blocks=$2 seconds=$3 processes=$4 folder=$5; shift 5
if kill -0 "$host" 2>/dev/null; then echo "seatbelt: the profile does not hold" >&2; exit 126; fi
if [ "$(pwd -P)" != "$folder" ]; then echo "seatbelt: the working directory leads elsewhere by now" >&2; exit 126; fi
say() { echo "$1" >&5; echo "$1" >&3; }
exec 4<&0 </dev/null 6>&- 7>&- 8>&- 9>&-
say kept
end() { tries=0; while kill -9 -1 2>/dev/null; do wait; tries=$((tries+1)); if [ "$tries" -gt 20000 ]; then return; fi; done; say empty; }
trap : TERM
( trap - TERM; exec 3>&- 4<&- 5>&-; ulimit -c 0; ulimit -f "$blocks"; ulimit -t "$seconds"; ulimit -p "$processes" 2>/dev/null; exec "$@" ) &
program=$!
( trap - TERM; read -r _ <&4; while kill "$$"; do :; done; end ) >/dev/null 2>&1 &
wait "$program"; code=$?
end >/dev/null 2>&1
exit "$code"`

export interface KeptStart {
  readonly sandboxExec: string
  readonly profile: string
  /** Real path of the folder that the program starts in. */
  readonly cwd: string
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** `pipe`, or an open file descriptor. */
  readonly output: 'pipe' | number
  readonly bounds: KeptBounds
  /** For the file of its word. */
  readonly folder: string
}
/** `cpuMsMax` null: of processor time the kernel bounds nothing. `processesMax`: of the owner in all. */
export interface KeptBounds { readonly fileBytesMax: number; readonly cpuMsMax: number | null; readonly processesMax: number }

/** A program under its keeper. */
export interface Kept {
  /** The keeper, which leads its process group. */
  readonly child: ChildProcess
  readonly wordFile: string
  /** Exit code of the program, null when its keeper was killed; the error of a launcher that cannot be started. */
  readonly ended: Promise<number | null | Error>
  /** Tells the keeper to end all. Of one that does not, the group is killed after a while, without proof; `onGivenUp` is called then. Idempotent. */
  end(onGivenUp?: () => void): void
  /** Once ended, and once all that is read has been: whether nobody is left, by the word of the last one inside, who reached all of its sandbox, and by the empty group. Where no keeper began, nothing was run. */
  provenEmpty(): Promise<boolean>
}

/** Program and arguments. The profile goes as an argument: it holds paths and no secret, and a file could be swapped. */
export function keptCommand({ sandboxExec, profile, bounds, cwd, command }: Pick<KeptStart, 'sandboxExec' | 'profile' | 'bounds' | 'cwd' | 'command'>, hostPid: number): readonly [program: string, args: readonly string[]] {
  const words = [hostPid, Math.floor(bounds.fileBytesMax / 512), bounds.cpuMsMax === null ? 'unlimited' : Math.floor(bounds.cpuMsMax / 1_000), bounds.processesMax].map(String)
  return [sandboxExec, ['-p', profile, '--', keeperShell, '-c', keeper, 'keeper', ...words, cwd, ...command]]
}

let count = 0

/** Starts a program under its keeper. Throws what the disk says. */
export async function startKept(start: KeptStart): Promise<Kept> {
  const [program, args] = keptCommand(start, process.pid)
  const wordFile = join(start.folder, `${wordFilePrefix}${String(process.pid)}-${String((count += 1))}`)
  const file = await open(wordFile, 'ax', 0o600)
  const child = spawn(program, args, { cwd: start.cwd, env: start.env, stdio: ['pipe', start.output, start.output, 'pipe', 'ignore', file.fd], detached: true })
  const [ended, { word, begun }] = [outcomeOf(child), keepersWord(child)]
  // The keeper may be gone before it is told to end.
  child.stdin?.on('error', () => undefined)
  await file.close()
  // One who listens in the keeper's place, because the program killed that, hears of it so.
  void ended.then(() => child.stdin?.end())
  let told = false
  let settled = false
  let patience: NodeJS.Timeout | undefined
  const end = (onGivenUp?: () => void): void => {
    if (told) return
    told = true
    child.stdin?.end()
    // Also where the keeper has ended: what it kept may still be there.
    const giveUpAfter = (ms: number): void => {
      clearTimeout(patience)
      if (!settled) patience = setTimeout(() => { signalGroup(child, 'SIGKILL'); onGivenUp?.() }, ms)
    }
    giveUpAfter(keeperBeginsWithinMs)
    void begun.then(() => { giveUpAfter(keeperEndsWithinMs) })
  }
  return {
    child, wordFile, ended, end,
    async provenEmpty() {
      // Who listens in the keeper's place may have been stopped: then its group is killed in the end.
      end()
      const said = await word
      settled = true
      clearTimeout(patience)
      if (said === '') return true
      const until = performance.now() + groupGoneWithinMs
      while (signalGroup(child, 0)) {
        if (performance.now() > until) return false
        await pause(20)
      }
      return said === lastWord
    },
  }
}

async function outcomeOf(child: ChildProcess): Promise<number | null | Error> {
  const failed = new Promise<Error>((done) => { child.once('error', done) })
  const exited = once(child, 'exit').then(([code]) => code as number | null, (error: unknown) => error as Error)
  return Promise.race([failed, exited])
}

/** `word`: all that was said on descriptor 3, once nobody holds that any more; a program that cannot be started says nothing. `begun`: the first of it came, or nothing ever will. */
function keepersWord(child: ChildProcess): { readonly word: Promise<string>; readonly begun: Promise<void> } {
  const from = child.stdio[3] as Readable | undefined | null
  let text = ''
  let begin = (): void => undefined
  const begun = new Promise<void>((done) => { begin = done })
  const word = new Promise<string>((done) => {
    if (from == null) { done(text); return }
    from.setEncoding('utf8')
    from.on('data', (chunk: string) => { text = `${text}${chunk}`.slice(0, 100); begin() })
    // What broke off is no last word.
    from.on('error', () => undefined).on('close', () => { begin(); done(text) })
  })
  return { word, begun }
}

/** True when the group that the keeper leads took the signal: somebody is in it. */
function signalGroup({ pid }: ChildProcess, signal: 'SIGKILL' | 0): boolean {
  return pid !== undefined && signalIfThere(-pid, signal)
}
