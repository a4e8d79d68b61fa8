import { registerCustomTheme } from '@pierre/diffs'
import { codeTheme, codeThemes } from './code-palette.ts'

// Known to the diff viewer under their names from here on.
for (const kind of ['light', 'dark'] as const) registerCustomTheme(codeThemes[kind], () => Promise.resolve(codeTheme(kind)))

export { codeThemes } from './code-palette.ts'
