import { setupI18n, type MessageDescriptor, type Messages } from '@lingui/core'
import type { MessageTree, Words } from './message.ts'

/** Words in the language that is chosen at the moment. */
export interface Catalogue<T> {
  /** The words by name. Each reads the language at the moment of reading, so that nothing holds on to a text. */
  readonly words: Words<T>
  /** From now on words come in this language. `messages` has the same names as the English ones; numbers are written as in `locale`. */
  readonly use: (locale: string, messages: MessageTree) => void
}

/**
 * A catalogue that begins in English. `english`: ICU messages, as they are written or, in a build, as build/words compiled them; the
 * names of the groups and the message are its id.
 */
export function createCatalogue<T>(english: T): Catalogue<T> {
  const i18n = setupI18n({ missing: (locale, id) => { throw new Error(`No message ${id} in ${locale}.`) } })
  const plain = new Map<string, string>()
  const say = (id: string, values?: MessageDescriptor['values']): string => i18n._(id, values)
  const read = (id: string): string => {
    const known = plain.get(id)
    if (known !== undefined) return known
    const text = say(id)
    plain.set(id, text)
    return text
  }
  const use = (locale: string, messages: unknown): void => {
    plain.clear()
    i18n.loadAndActivate({ locale, messages: byId(messages as Tree) })
  }
  use('en', english)
  return { words: view(english as Tree, '', read, say) as Words<T>, use }
}

/** A message as it is written, or compiled: pieces of text and of values. */
type Message = string | readonly unknown[]
interface Tree { readonly [name: string]: Message | Tree }

const isMessage = (node: Message | Tree): node is Message => typeof node === 'string' || Array.isArray(node)

/** Whether a message stands for one text, whatever it is told. */
function isPlain(message: Message): boolean {
  return typeof message === 'string' ? !/(?<!'){/.test(message) : message.every((piece) => typeof piece === 'string')
}

function byId(tree: Tree, prefix = '', into: Messages = {}): Messages {
  for (const [name, node] of Object.entries(tree)) {
    if (isMessage(node)) into[prefix + name] = node as Messages[string]
    else byId(node, `${prefix}${name}.`, into)
  }
  return into
}

function view(tree: Tree, prefix: string, read: (id: string) => string, say: (id: string, values: MessageDescriptor['values']) => string): object {
  const words = {}
  for (const [name, node] of Object.entries(tree)) {
    const id = prefix + name
    if (!isMessage(node)) Object.defineProperty(words, name, { enumerable: true, value: view(node, `${id}.`, read, say) })
    else if (isPlain(node)) Object.defineProperty(words, name, { enumerable: true, get: () => read(id) })
    else Object.defineProperty(words, name, { enumerable: true, value: (values: MessageDescriptor['values']) => say(id, values) })
  }
  return words
}
