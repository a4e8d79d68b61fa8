import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'vite'
import type { MessageTree } from '../../src-words/message.ts'
import { compileTree } from './compile.ts'

const catalogue = /[\\/]src-words[\\/][a-z]{2}[\\/](?:window|shell)\.ts$/

/** Puts the catalogues of src-words into a bundle as compiled messages, so that no parser of messages ships. */
export function compiledWords(): Plugin {
  return {
    name: 'compiled-words',
    async load(id) {
      if (!catalogue.test(id)) return null
      const path = resolve(id)
      // While files are watched, what changed since is a module of its own.
      const version = this.meta.watchMode ? `?${String(statSync(path).mtimeMs)}` : ''
      const module = (await import(`${pathToFileURL(path).href}${version}`)) as { readonly words: MessageTree }
      return `export const words = ${JSON.stringify(compileTree(module.words))}`
    },
  }
}
