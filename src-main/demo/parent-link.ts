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

/** Finds the parent; null when this process was started by hand. */
export function findParent(): ParentLink | null {
  const port = (process as { parentPort?: ElectronParentPort | null }).parentPort
  if (port) {
    return {
      post: (message) => port.postMessage(message),
      onMessage: (listener) => port.on('message', (event) => listener(event.data)),
      onClosed: (listener) => port.on('close', listener),
    }
  }
  if (process.send === undefined) return null
  return {
    // A parent that went away is told by `disconnect`; the failed write says nothing more.
    post: (message) => { if (process.connected) process.send?.(message, () => undefined) },
    onMessage: (listener) => process.on('message', listener),
    onClosed: (listener) => process.on('disconnect', listener),
  }
}
