import type { LanguageRegistration } from 'shiki/core'

type Grammar = () => Promise<{ readonly default: LanguageRegistration[] }>

/** Grammars that a file which is being written is coloured by; each is loaded when the first such file is. The review knows all the others. */
const grammars = {
  c: () => import('@shikijs/langs/c'), css: () => import('@shikijs/langs/css'), go: () => import('@shikijs/langs/go'), html: () => import('@shikijs/langs/html'), java: () => import('@shikijs/langs/java'),
  javascript: () => import('@shikijs/langs/javascript'), json: () => import('@shikijs/langs/json'), jsx: () => import('@shikijs/langs/jsx'), markdown: () => import('@shikijs/langs/markdown'), php: () => import('@shikijs/langs/php'),
  python: () => import('@shikijs/langs/python'), ruby: () => import('@shikijs/langs/ruby'), rust: () => import('@shikijs/langs/rust'), shellscript: () => import('@shikijs/langs/shellscript'), sql: () => import('@shikijs/langs/sql'),
  toml: () => import('@shikijs/langs/toml'), tsx: () => import('@shikijs/langs/tsx'), typescript: () => import('@shikijs/langs/typescript'), xml: () => import('@shikijs/langs/xml'), yaml: () => import('@shikijs/langs/yaml'),
} satisfies Record<string, Grammar>

export type CodeLanguage = keyof typeof grammars

const endings: Readonly<Record<string, CodeLanguage>> = {
  bash: 'shellscript', c: 'c', cjs: 'javascript', css: 'css', cts: 'typescript', go: 'go', h: 'c', htm: 'html', html: 'html', java: 'java', js: 'javascript', json: 'json', jsx: 'jsx', md: 'markdown', mjs: 'javascript', mts: 'typescript',
  php: 'php', py: 'python', rb: 'ruby', rs: 'rust', sh: 'shellscript', sql: 'sql', svg: 'xml', toml: 'toml', ts: 'typescript', tsx: 'tsx', xml: 'xml', yaml: 'yaml', yml: 'yaml',
}

/** The language of a file by its ending; null where it is not known. */
export function languageOf(path: string): CodeLanguage | null {
  return endings[/\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''] ?? null
}

/** The grammar of a language, with those that it embeds. */
export async function grammarOf(language: CodeLanguage): Promise<LanguageRegistration[]> {
  return (await grammars[language]()).default
}
