import { contextBridge, ipcRenderer } from 'electron'
import { channelOf, methodNames, patchChannel, signalChannel } from './contract/channels.ts'
import { failure } from './contract/failure.ts'
import type { Bridge } from './contract/methods.ts'

const known: ReadonlySet<string> = new Set(methodNames)

function follow(channel: string, listener: (value: never) => void): () => void {
  const heard = (_event: Electron.IpcRendererEvent, value: unknown): void => {
    listener(value as never)
  }
  ipcRenderer.on(channel, heard)
  return () => {
    ipcRenderer.removeListener(channel, heard)
  }
}

/** The whole bridge. Main checks the sender and parses every input; nothing throws across it. */
const bridge: Bridge = {
  call: async (method, input) => {
    if (!known.has(method)) return { ok: false, error: failure('invalid-input', 'This call is not known.', 'Update the app.') }
    try {
      return (await ipcRenderer.invoke(channelOf(method), input)) as never
    } catch (error) {
      return { ok: false, error: failure('internal', `The app's main process did not answer: ${error instanceof Error ? error.message : String(error)}`, 'Try again; if it stays, restart the app. Nothing is lost.') }
    }
  },
  onPatch: (listener) => follow(patchChannel, listener),
  onSignal: (listener) => follow(signalChannel, listener),
}

contextBridge.exposeInMainWorld('countersign', bridge)
