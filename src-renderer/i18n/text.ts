import { en, type Catalogue } from './en.ts'

/** The words of the window. A second language becomes a second value here. */
export const t: Catalogue = en
