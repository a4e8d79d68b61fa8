import type { Failpoint } from '../../src-main/engine/failpoints.ts'

/** What befell the worlds of some seeds: a kind of trouble that never came has proven nothing. */
export interface Troubles {
  readonly crashes: Map<Failpoint, number>
  kills: number; refusals: number; tornCommits: number; restartsOnDisk: number
  lost: number; doubled: number; late: number
  clockJumps: number; calls: number; previews: number; proxyDeaths: number; uncertain: number
}

export function noTroubles(): Troubles {
  return { crashes: new Map(), kills: 0, refusals: 0, tornCommits: 0, restartsOnDisk: 0, lost: 0, doubled: 0, late: 0, clockJumps: 0, calls: 0, previews: 0, proxyDeaths: 0, uncertain: 0 }
}

/** Adds `other` to `sum`. */
export function addTroubles(sum: Troubles, other: Troubles): void {
  for (const [point, times] of other.crashes) sum.crashes.set(point, (sum.crashes.get(point) ?? 0) + times)
  for (const name of counted) sum[name] += other[name]
}

const counted = ['kills', 'refusals', 'tornCommits', 'restartsOnDisk', 'lost', 'doubled', 'late', 'clockJumps', 'calls', 'previews', 'proxyDeaths', 'uncertain'] as const satisfies readonly Exclude<keyof Troubles, 'crashes'>[]

/** Kinds of trouble that did not come at all. */
export function missingTroubles(sum: Troubles): string[] {
  return counted.filter((name) => sum[name] === 0)
}

/** The account in words, for the summary. */
export function troublesInWords(sum: Troubles): string {
  const crashes = [...sum.crashes.values()].reduce((total, times) => total + times, 0)
  return `crashes: ${String(crashes)} at ${String(sum.crashes.size)} failpoints, ${String(sum.kills)} between them; disk: ${String(sum.refusals)} writes refused, ${String(sum.tornCommits)} commits torn in ${String(sum.restartsOnDisk)} restarts on files; `
    + `messages: ${String(sum.lost)} lost, ${String(sum.doubled)} doubled, ${String(sum.late)} late and out of order; proxy: ${String(sum.calls)} calls, ${String(sum.previews)} previews, ${String(sum.proxyDeaths)} deaths; `
    + `clock: ${String(sum.clockJumps)} jumps; ${String(sum.uncertain)} times uncertain`
}
