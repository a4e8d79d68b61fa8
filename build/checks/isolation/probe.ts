import type { Ground } from './ground.ts'

/**
 * One try to get out of a command's sandbox, or to do what must work in it. The command prints `reached` or `blocked` as its last line.
 * `control`: who reaches it outside of a sandbox, which proves that the probe can fail. `nobody`: it would change the host, or needs what a machine may lack.
 */
export interface Probe {
  readonly name: string
  readonly command: (ground: Ground) => string
  readonly expect: 'blocked' | 'reached'
  readonly control: 'anybody' | 'root' | 'nobody'
}

/** Says whether a command line succeeds. */
export const tries = (line: string): string => `if ${line} >/dev/null 2>&1; then echo reached; else echo blocked; fi`

/** What succeeds outside and must not inside. */
export const denied = (name: string, line: (ground: Ground) => string, control: Probe['control'] = 'anybody'): Probe => ({ name, command: (ground) => tries(line(ground)), expect: 'blocked', control })

/** What a sandbox is for. */
export const given = (name: string, line: (ground: Ground) => string): Probe => ({ name, command: (ground) => tries(line(ground)), expect: 'reached', control: 'nobody' })

/** A text that stands in a command without being found by that command's own search for it. */
export const unfindable = (text: string): string => `${text.slice(0, 3)}''${text.slice(3)}`
