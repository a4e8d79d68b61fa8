import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export interface StandInChanges {
  /** Further words for bwrap, as a shell reads them, after the plan: what a profile does not keep. `$PWD` is the folder that the program starts in, `$folder` the one above. */
  readonly more?: string
  /** The same, for the coder's trial only. */
  readonly moreForCoder?: string
  /** Does what is inside end with the one who started it? On a Mac it does not. */
  readonly ends?: boolean
}

/** Writes a `sandbox-exec -p PROFILE -- COMMAND…` made of bwrap into `dir` and answers with its path. `nc` is there, as it is on a Mac. */
export function writeStandIn(dir: string, { more = '', moreForCoder = '', ends = false }: StandInChanges = {}): string {
  const [path, bin, emptyFile] = [join(dir, 'sandbox-exec'), join(dir, 'bin'), join(dir, 'nothing')]
  mkdirSync(bin, { recursive: true })
  if (!existsSync(emptyFile)) writeFileSync(emptyFile, '', { mode: 0 })
  writeFileSync(join(bin, 'nc'), '#!/usr/bin/bash\nexec 3<>"/dev/tcp/$4/$5"\n')
  chmodSync(join(bin, 'nc'), 0o755)
  const plan = `'${process.execPath}' '${resolve(import.meta.dirname, 'seatbelt-plan.suite.ts')}'`
  writeFileSync(path, `#!/usr/bin/bash
folder=$(dirname "$PWD") list=$(mktemp '${dir}/plan-XXXXXX')
${plan} "$2" '${emptyFile}' > "$list" || exit 65
shift 3
exec 9< "$list"; rm "$list"
more=(${more})
case "$*" in *trial.js*) more+=(${moreForCoder}) ;; esac
exec bwrap ${ends ? '--die-with-parent' : ''} --args 9 --ro-bind '${bin}' /usr/local/bin "\${more[@]}" --remount-ro / --chdir "$PWD" -- "$@"
`)
  chmodSync(path, 0o755)
  return path
}
