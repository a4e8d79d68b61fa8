import { createCatalogue } from '../../src-words/catalogue.ts'
import { words } from '../../src-words/en/window.ts'

const catalogue = createCatalogue(words)

/** The words of the window, in the language that is spoken at the moment; to be read while drawing, never kept. */
export const t = catalogue.words

/** Changes what `t` reads; language.ts is who calls it. */
export const setMessages = catalogue.use
