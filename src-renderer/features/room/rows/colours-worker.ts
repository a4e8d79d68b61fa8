// Colours lines of code beside the window's thread: started when the first file of a known language is written, ended when nothing is.
import { createHighlighterCore, type GrammarState } from 'shiki/core'
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript'
import { codeTheme, codeThemes } from '../../../ui/code-palette.ts'
import { grammarOf, languageOf } from './code-languages.ts'
import type { ColouredPiece, ColoursAnswer, ColoursRequest, LinesToColour } from './coloured-lines.ts'

/** Longer lines stay as they are: nobody reads their colours, and one of them could take a second. */
const lineCharsMax = 1_000

interface Stream { state: GrammarState | undefined; next: number }

const highlighter = createHighlighterCore({ themes: [codeTheme('light'), codeTheme('dark')], langs: [], engine: createJavaScriptRegexEngine({ forgiving: true }) })
const streams = new Map<string, Stream>()
const post = (answer: ColoursAnswer): void => { self.postMessage(answer) }
let turn: Promise<void> = Promise.resolve()

async function colour({ stream, path, from, lines }: LinesToColour): Promise<void> {
  const lang = languageOf(path)
  if (lang === null) return
  const made = await highlighter
  await made.loadLanguage(...await grammarOf(lang))
  const known = streams.get(stream)
  // A gap: what came between is not known, so the grammar begins anew.
  const at: Stream = known?.next === from ? known : { state: undefined, next: from }
  streams.set(stream, at)
  const coloured = lines.map((line): readonly ColouredPiece[] => {
    const { tokens, grammarState } = made.codeToTokens(line, { lang, themes: codeThemes, defaultColor: false, tokenizeMaxLineLength: lineCharsMax, tokenizeTimeLimit: 50, ...(at.state === undefined ? {} : { grammarState: at.state }) })
    at.state = grammarState
    return (tokens[0] ?? []).map(({ content, htmlStyle }) => ({ text: content, light: htmlStyle?.['--shiki-light'] ?? null, dark: htmlStyle?.['--shiki-dark'] ?? null }))
  })
  at.next += lines.length
  post({ stream, from, lines: coloured })
}

self.onmessage = ({ data }: MessageEvent<ColoursRequest>) => {
  // One after the other: the state of a line is that of the one before.
  turn = turn.then(async () => {
    if ('end' in data) streams.delete(data.end)
    else await colour(data)
  }).catch((error: unknown) => { post({ failed: String(error) }) })
}
