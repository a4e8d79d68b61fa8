/** A child process as this adapter sees it: Electron's utilityProcess in the app, Node's fork in tests. */
export interface ChildPort {
  post(message: unknown): void
  kill(): void
  /** Resolves once, when the process is gone; never rejects. */
  readonly exited: Promise<{ readonly code: number | null }>
}

/** Starts the child; `onMessage` gets what it posts. */
export type Fork = (onMessage: (message: unknown) => void) => ChildPort

export type Log = (level: 'info' | 'warn' | 'error', message: string) => void
