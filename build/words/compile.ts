import { compileMessageOrThrow, type CompiledMessage } from '@lingui/message-utils/compileMessage'
import type { MessageTree } from '../../src-words/message.ts'

/** A catalogue with each message taken apart into text and values, as Lingui's runtime reads it. */
export interface CompiledTree { readonly [name: string]: CompiledMessage | CompiledTree }

/** Compiles a catalogue. @throws when a message is no ICU message, with its name. */
export function compileTree(tree: MessageTree, prefix = ''): CompiledTree {
  const compiled: Record<string, CompiledMessage | CompiledTree> = {}
  for (const [name, node] of Object.entries(tree)) compiled[name] = typeof node === 'string' ? compileOne(prefix + name, node) : compileTree(node, `${prefix}${name}.`)
  return compiled
}

function compileOne(id: string, message: string): CompiledMessage {
  try {
    return compileMessageOrThrow(message)
  } catch (error) {
    throw new Error(`The message ${id} cannot be compiled: ${message}`, { cause: error })
  }
}
