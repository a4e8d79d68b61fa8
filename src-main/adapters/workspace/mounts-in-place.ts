import type { Mount } from '../../../src-preload/contract/task.ts'

/**
 * Proposals for a system that can show a folder at no other place than its own (macOS): dependencies are copied, and a toolchain is used where it is, so
 * that a card names the place that a command finds.
 */
export function inTheirPlaces(proposals: readonly Mount[]): Mount[] {
  return proposals.map((mount) => {
    if (mount.kind === 'dependency') return { ...mount, mode: 'copy' }
    const { hostPath, into, pathEntry } = mount
    return { ...mount, into: hostPath, pathEntry: pathEntry?.startsWith(`${into}/`) === true ? hostPath + pathEntry.slice(into.length) : pathEntry }
  })
}
