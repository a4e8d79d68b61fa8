import { utilityProcess } from 'electron'

/** A child of the app as its supervisors see it. The same shape as the proxy adapter's seam; the shell knows Electron, the adapter does not. */
export interface ForkedChild {
  post(message: unknown): void
  kill(): void
  readonly exited: Promise<{ readonly code: number | null }>
}

/** Environment of our own children: nothing of the operator's but what names the locale and a folder for temporary files. */
function childEnvironment(): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const name of ['LANG', 'LC_ALL', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'PATH']) {
    const value = process.env[name]
    if (value !== undefined) kept[name] = value
  }
  return kept
}

/** Makes a starter for one bundled entry (`proxy.cjs`, `demo.cjs`) as a utility process. What it prints goes to `onLine`. */
export function forkOf(entry: string, name: string, onLine: (line: string) => void): (onMessage: (message: unknown) => void) => ForkedChild {
  return (onMessage) => {
    const child = utilityProcess.fork(entry, [], { serviceName: name, stdio: 'pipe', env: childEnvironment() })
    child.on('message', onMessage)
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => { onLine(chunk.toString('utf8').slice(0, 2_000)) })
    const exited = new Promise<{ readonly code: number | null }>((resolve) => { child.on('exit', (code) => { resolve({ code }) }) })
    return { post: (message) => { child.postMessage(message) }, kill: () => { child.kill() }, exited }
  }
}
