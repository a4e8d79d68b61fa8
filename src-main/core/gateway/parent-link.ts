/** The way to the process that started this one: Electron's parent port, else Node's IPC channel. */
export interface ParentLink {
  post(message: unknown): void
  onMessage(listener: (message: unknown) => void): void
  /** The parent is gone, or never was. */
  onClosed(listener: () => void): void
}

interface ElectronParentPort {
  postMessage(message: unknown): void
  on(event: 'message', listener: (event: { readonly data: unknown }) => void): void
  on(event: 'close', listener: () => void): void
}

/** The part of Node's `process` that leads to a parent; handed in, since the core knows no runtime. */
export interface ChildProcessSide {
  readonly parentPort?: ElectronParentPort | null
  readonly connected: boolean
  send?(message: unknown, sent: () => void): unknown
  on(event: 'message' | 'disconnect', listener: (message: unknown) => void): unknown
}

/** Finds the parent; null when this process was started by hand. */
export function findParent(self: ChildProcessSide): ParentLink | null {
  const port = self.parentPort
  if (port) {
    return {
      post: (message) => { port.postMessage(message) },
      onMessage: (listener) => { port.on('message', (event) => { listener(event.data) }) },
      onClosed: (listener) => { port.on('close', listener) },
    }
  }
  if (self.send === undefined) return null
  return {
    // A parent that went away is told by `disconnect`; the failed write says nothing more.
    post: (message) => { if (self.connected) self.send?.(message, () => undefined) },
    onMessage: (listener) => { self.on('message', listener) },
    onClosed: (listener) => { self.on('disconnect', () => { listener() }) },
  }
}
