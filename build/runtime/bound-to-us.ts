import { existsSync } from 'node:fs'

const setpriv = '/usr/bin/setpriv'
const watchMs = 500

/**
 * A command that is told to end (SIGTERM) by the kernel when this process ends, however that happens. Where there is no `setpriv` of
 * util-linux (not Linux, or a very small one) it is the command as it is.
 */
export function boundToUs(command: string, args: readonly string[]): { readonly command: string; readonly args: readonly string[] } {
  if (process.platform !== 'linux' || !existsSync(setpriv)) return { command, args }
  return { command: setpriv, args: ['--pdeathsig', 'TERM', '--', command, ...args] }
}

/** npm hands on the signals that it gets, but nobody its own death: from here on this process is told to end (SIGTERM) when its parent is gone. */
export function endWithParent(): void {
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, watchMs)
  watch.unref()
}
