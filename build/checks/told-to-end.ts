/**
 * Notes the first signal that tells this process to end, and keeps it from ending by that: the child that runs is handed it by `exitCodeOf`, and who
 * starts one child after the other starts no more.
 */
export function listenForEnd(): { readonly signal: NodeJS.Signals | null; stop(): void } {
  const ending = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  let first: NodeJS.Signals | null = null
  const note = (signal: NodeJS.Signals): void => { first ??= signal }
  for (const signal of ending) process.on(signal, note)
  return { get signal() { return first }, stop: () => { for (const signal of ending) process.off(signal, note) } }
}
