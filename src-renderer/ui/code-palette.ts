type Role = 'comment' | 'keyword' | 'string' | 'constant' | 'function' | 'type' | 'punctuation' | 'tag'

/** TextMate scopes of each role; few on purpose, so that what changed is louder than what is coloured. */
const scopes: Readonly<Record<Role, readonly string[]>> = {
  comment: ['comment', 'punctuation.definition.comment'],
  keyword: ['keyword', 'storage', 'storage.type', 'storage.modifier', 'variable.language', 'keyword.operator.new', 'keyword.operator.expression'],
  string: ['string', 'punctuation.definition.string', 'markup.inline.raw', 'constant.other.symbol'],
  constant: ['constant.numeric', 'constant.language', 'constant.character', 'support.constant', 'variable.other.constant', 'markup.heading'],
  function: ['entity.name.function', 'support.function', 'meta.function-call entity.name.function'],
  type: ['entity.name.type', 'entity.name.class', 'support.type', 'support.class', 'entity.other.inherited-class', 'entity.other.attribute-name'],
  punctuation: ['punctuation', 'keyword.operator', 'meta.brace'],
  tag: ['entity.name.tag', 'support.type.property-name.json', 'keyword.other.definition'],
}

// Every colour keeps 4.5:1 on the plain, the added, the removed and the emphasised ground of its theme.
const palettes = {
  light: { background: '#ffffff', text: '#20242c', comment: '#565c66', keyword: '#6f3096', string: '#14603a', constant: '#17558f', function: '#2b46a3', type: '#0d5c68', punctuation: '#474d57', tag: '#85293a' },
  dark: { background: '#181a1f', text: '#e9eaed', comment: '#b1b7c0', keyword: '#d0adf2', string: '#97dcaf', constant: '#9ac6fa', function: '#b6c3ff', type: '#88d6de', punctuation: '#bfc4cc', tag: '#f5b0b4' },
} as const

/** Names of the two themes. */
export const codeThemes = { light: 'countersign-light', dark: 'countersign-dark' } as const

/** A theme as TextMate highlighters take it. */
export function codeTheme(kind: 'light' | 'dark'): { readonly name: string; readonly type: 'light' | 'dark'; readonly colors: Record<string, string>; readonly tokenColors: { scope: string[]; settings: { foreground: string } }[] } {
  const palette = palettes[kind]
  return {
    name: codeThemes[kind],
    type: kind,
    colors: { 'editor.background': palette.background, 'editor.foreground': palette.text },
    tokenColors: (Object.keys(scopes) as Role[]).map((role) => ({ scope: [...scopes[role]], settings: { foreground: palette[role] } })),
  }
}
