import { contextBridge, ipcRenderer } from 'electron'
import { channelOf, methodNames, patchChannel, signalChannel } from './contract/channels.ts'
import type { Failure } from './contract/failure.ts'
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

// Written out: what builds failures brings their schemas along, and this file is loaded before anything is drawn.
const unknown: Failure = { code: 'invalid-input', message: 'This call is not known.', todo: 'Update the app.' }
function unanswered(why: string): Failure {
  return { code: 'internal', message: `The app's main process did not answer: ${why.slice(0, 1_000)}`, todo: 'Try again; if it stays, restart the app. Nothing is lost.' }
}

/** The whole bridge. Main checks the sender and parses every input; nothing throws across it. */
const bridge: Bridge = {
  call: async (method, input) => {
    if (!known.has(method)) return { ok: false, error: unknown }
    try {
      return (await ipcRenderer.invoke(channelOf(method), input)) as never
    } catch (error) {
      return { ok: false, error: unanswered(error instanceof Error ? error.message : String(error)) }
    }
  },
  onPatch: (listener) => follow(patchChannel, listener),
  onSignal: (listener) => follow(signalChannel, listener),
}

contextBridge.exposeInMainWorld('countersign', bridge)
