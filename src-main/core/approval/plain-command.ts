import { err, ok, type Result } from '../../../src-preload/contract/result.ts'

/** A command whose every word is literal: what each of its simple commands is made of, and how they are joined. */
export interface PlainCommand { readonly parts: readonly (readonly string[])[]; readonly joins: readonly string[] }

/** Words with which a shell begins something other than a simple command. */
const reserved: ReadonlySet<string> = new Set(['if', 'then', 'else', 'elif', 'fi', 'do', 'done', 'case', 'esac', 'while', 'until', 'for', 'in', 'function', 'select', 'time', 'coproc', '!', '[[', ']]', '{', '}'])

/** Programs of the shell that read their words as shell text, or change what later words mean. */
const rereading: ReadonlySet<string> = new Set(['eval', 'trap', 'alias', 'unalias', 'export', 'readonly', 'declare', 'typeset', 'local', 'read', 'set', 'unset', 'shopt'])
const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'ksh', 'mksh', 'zsh', 'busybox', 'fish'])

const bareChar = /[A-Za-z0-9_@%+=:,./-]/
const operator = /^(&&|\|\||;|\|(?![|&]))/
/** The one redirection that is read: it names no file. */
const errorsToOutput = /^2>&1(?=[ ;|&]|$)/

/**
 * Reads a POSIX shell command of which nothing depends on when or where it is run: literal words, quotes, and `&&`, `||`, `;`, `|` between
 * simple commands. Everything else is refused with a reason, since the same text could then be another act: variables, substitutions,
 * patterns, redirections to files, background, subshells, assignments, comments, line breaks, words that a shell is told to read once more
 * (`eval`, `sh -c`), and whatever is not printable ASCII.
 * Source of the grammar: POSIX.1-2017, Shell Command Language, 2.2 (quoting), 2.3 (tokens), 2.9 (commands).
 */
export function plainCommand(text: string): Result<PlainCommand, string> {
  const strange = /[^\x20-\x7e]/u.exec(text)?.[0]
  if (strange !== undefined) return err(`it contains U+${(strange.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}, which is not printable ASCII`)
  let words: string[] = []
  const parts = [words]
  const joins: string[] = []
  let rest = text
  for (;;) {
    rest = rest.replace(/^ +/, '')
    if (rest === '') break
    const joined = operator.exec(rest)?.[0]
    if (joined !== undefined) {
      if (words.length === 0) return err(`nothing stands before "${joined}"`)
      joins.push(joined)
      words = []
      parts.push(words)
      rest = rest.slice(joined.length)
      continue
    }
    const quiet = words.length > 0 ? errorsToOutput.exec(rest)?.[0] : undefined
    const word = quiet === undefined ? literalWord(rest) : ok({ word: quiet, length: quiet.length })
    if (!word.ok) return word
    const objection = words.length === 0 ? firstWordObjection(word.value.word) : null
    if (objection !== null) return err(objection)
    words.push(word.value.word)
    rest = rest.slice(word.value.length)
  }
  const [reread] = parts.flatMap((each) => rereadObjection(each) ?? [])
  if (reread !== undefined) return err(reread)
  const lastJoin = joins.at(-1)
  if (words.length === 0) return err(lastJoin === undefined ? 'it is empty' : `nothing stands after "${lastJoin}"`)
  return ok({ parts, joins })
}

function firstWordObjection(word: string): string | null {
  if (reserved.has(word)) return `"${word}" begins a construct of the shell`
  return word.includes('=') ? `"${word}" sets a variable` : null
}

/** Why the words of one command are not literal though each of them is read as one; null where they are. */
function rereadObjection(words: readonly string[]): string | null {
  const [first = ''] = words
  if (rereading.has(first)) return `"${first}" lets the shell read its words once more, or sets what others mean`
  // Wherever it stands: env, xargs, timeout and the like start the program that their words name.
  const shell = words.findIndex((word) => shells.has(word.slice(word.lastIndexOf('/') + 1)))
  const command = shell < 0 ? undefined : words.slice(shell + 1).find((word) => /^-[A-Za-z]*c/.test(word))
  return command === undefined ? null : `"${words[shell] ?? ''} ${command}" is a shell that reads a word as commands of its own`
}

/** One word at the start of `text`, without its quotes. */
function literalWord(text: string): Result<{ readonly word: string; readonly length: number }, string> {
  let word = ''
  let at = 0
  while (at < text.length && text[at] !== ' ' && operator.exec(text.slice(at, at + 3)) === null) {
    const char = text.charAt(at)
    if (char === '\'' || char === '"') {
      const end = text.indexOf(char, at + 1)
      if (end === -1) return err(`a quote (${char}) is not closed`)
      const inside = text.slice(at + 1, end)
      const active = char === '"' ? /[$`\\!]/.exec(inside)?.[0] : undefined
      if (active !== undefined) return err(`"${active}" has a meaning of its own inside double quotes`)
      word += inside
      at = end + 1
      continue
    }
    if (!bareChar.test(char)) return err(`"${char}" has a meaning of its own to a shell`)
    word += char
    at += 1
  }
  return ok({ word, length: at })
}

/** What was read, in one sentence for the owner. */
export function explainCommand({ parts }: PlainCommand): string {
  const words = parts.reduce((sum, part) => sum + part.length, 0)
  const programs = [...new Set(parts.flatMap((part) => part.slice(0, 1)))].join(', ')
  return `${String(parts.length)} ${parts.length === 1 ? 'command' : 'commands'} (${programs}), ${String(words)} literal ${words === 1 ? 'word' : 'words'}: no variables, patterns, substitutions or redirections to files`
}
