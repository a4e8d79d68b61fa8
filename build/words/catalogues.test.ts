import type { CompiledMessage } from '@lingui/message-utils/compileMessage'
import { describe, expect, it } from 'vitest'
import { words as germanShell } from '../../src-words/de/shell.ts'
import { words as germanWindow } from '../../src-words/de/window.ts'
import { words as englishShell } from '../../src-words/en/shell.ts'
import { words as englishWindow } from '../../src-words/en/window.ts'
import { languageCodes, languages, type LanguageCode } from '../../src-words/languages.ts'
import type { MessageTree } from '../../src-words/message.ts'
import { compileTree, type CompiledTree } from './compile.ts'

const catalogues: Readonly<Record<string, Readonly<Record<LanguageCode, MessageTree>>>> = { window: { en: englishWindow, de: germanWindow }, shell: { en: englishShell, de: germanShell } }

/** What is the same in both languages: names, units, and words that both have. */
const alike = /^(?:Countersign|OpenCode|Bot [AB]|[AB]|Alt|Esc|Tests?|Status|Budgets?|Name|Isolation|Details|Version \{.*\}|Diff|Review|Audit|Hash|Digests?|Tokens|System|Updates|Chat Completions|Responses|bubblewrap|Pilot|Prompt|in \{folder\}|.* \(opencode run\)|\{.*\} (?:MiB|%)|In \/tmp|Scope|Generation|\{.*\} MiB in \/tmp|Audience|\{percent, number\} %|warm|Warm)$/

function flat(tree: MessageTree, prefix = ''): Map<string, string> {
  return new Map(Object.entries(tree).flatMap(([name, node]) => (typeof node === 'string' ? [[prefix + name, node] as const] : [...flat(node, `${prefix}${name}.`)])))
}

function flatCompiled(tree: CompiledTree, prefix = ''): Map<string, CompiledMessage> {
  return new Map(Object.entries(tree).flatMap(([name, node]) => (Array.isArray(node) ? [[prefix + name, node] as const] : [...flatCompiled(node, `${prefix}${name}.`)])))
}

type Piece = CompiledMessage[number]
type Value = Exclude<Piece, string>
const isValue = (piece: Piece): piece is Value => typeof piece !== 'string'

/** The values of a message with their kinds, in the order of their names. */
function valuesOf(message: CompiledMessage): readonly string[] {
  return message.filter(isValue).map(([name, kind]) => `${name} ${kind ?? 'text'}`).toSorted()
}

describe.each(Object.entries(catalogues))('the words of the %s', (_, byLanguage) => {
  const english = flat(byLanguage.en)
  const compiled = Object.fromEntries(languageCodes.map((code) => [code, flatCompiled(compileTree(byLanguage[code]))])) as Record<LanguageCode, Map<string, CompiledMessage>>

  it.each(languageCodes)('are complete in %s, and no word is left over', (code) => {
    expect([...flat(byLanguage[code]).keys()]).toEqual([...english.keys()])
  })

  it.each(languageCodes)('name the same values in %s as in English', (code) => {
    for (const [id, message] of compiled[code]) expect(valuesOf(message), id).toEqual(valuesOf(compiled.en.get(id) ?? []))
  })

  it.each(languageCodes)('have each form of a number that %s has, and nothing but the number inside', (code) => {
    const { pluralCategories } = new Intl.PluralRules(languages[code].numbers).resolvedOptions()
    for (const [id, message] of compiled[code]) {
      for (const [, kind, cases] of message.filter(isValue)) {
        expect([undefined, 'number', 'plural'], id).toContain(kind)
        if (kind !== 'plural') continue
        const forms = cases as Readonly<Record<string, CompiledMessage | number | undefined>>
        expect(Object.keys(forms), id).toEqual(expect.arrayContaining(pluralCategories))
        expect(Object.values(forms).flat().filter((piece) => Array.isArray(piece)), id).toEqual([])
      }
    }
  })

  it('are translated: what stays as it is in English is a name', () => {
    const german = flat(byLanguage.de)
    expect([...english].filter(([id, text]) => german.get(id) === text && !alike.test(text)).map(([id, text]) => `${id}: ${text}`)).toEqual([])
  })

  it('end in German as they end in English, so that a sentence stays one and a label too', () => {
    const end = (text: string | undefined): string => /[.:?…]$/.exec(text?.trim() ?? '')?.[0] ?? ''
    const german = flat(byLanguage.de)
    expect([...english].filter(([id, text]) => end(text) !== end(german.get(id)) && end(german.get(id)) !== ':').map(([id, text]) => `${id}: ${text}`)).toEqual([])
  })
})
