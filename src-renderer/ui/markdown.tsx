import { memo, type ReactNode } from 'react'
import Markdown, { type Components, type Options } from 'react-markdown'
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'
import { useSpoken } from '../i18n/language.ts'
import { t } from '../i18n/text.ts'
import { PlainText } from './pieces.tsx'
import { plainPieces } from './visible-text.ts'

/** Longer texts are shown as they are: parsing them would cost a frame, and nobody reads such a text as a document. */
const charsMax = 40_000

/** No picture, no frame, no link that can be followed: what a bot writes loads nothing and opens nothing. */
const schema: typeof defaultSchema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => !['picture', 'source', 'input'].includes(name)),
  attributes: { ...defaultSchema.attributes, img: ['alt', 'src'] },
  // Targets of every kind are shown as text; none can be followed, so none has to vanish.
  protocols: {},
}

/** A picture is not loaded: its text and its address are shown. */
function Picture({ alt, src }: { readonly alt?: string | undefined; readonly src?: unknown }): ReactNode {
  useSpoken()
  return (
    <span className="quiet">
      [{alt === undefined || alt === '' ? t.word.picture : alt}
      {typeof src === 'string' ? <span className="link-target"> ({src})</span> : null}]
    </span>
  )
}

const components: Components = {
  a: ({ href, children }) => (
    <span>
      {children}
      {href === undefined || (typeof children === 'string' && children === href) ? null : <span className="link-target"> ({href})</span>}
    </span>
  ),
  img: Picture,
}

interface HastNode {
  type: string
  value?: string
  tagName?: string
  properties?: Record<string, unknown>
  children?: HastNode[]
}

/** Turns raw HTML into the text that was written, before the sanitiser would silently drop it: nothing a bot writes is hidden. */
function rawAsText(): (tree: HastNode) => void {
  const visit = (node: HastNode): void => {
    if (node.type === 'raw' || node.type === 'comment') node.type = 'text'
    for (const child of node.children ?? []) visit(child)
  }
  return visit
}

/** Spells out, in every text, what would reorder or control the rest of it. After the sanitiser: these marks are ours. */
function spellOut(): (tree: HastNode) => void {
  const visit = (node: HastNode): void => {
    if (node.children === undefined) return
    node.children = node.children.flatMap((child) => {
      visit(child)
      return child.type === 'text' ? spelledOut(child.value ?? '') : [child]
    })
  }
  return visit
}

function spelledOut(text: string): HastNode[] {
  return plainPieces(text).map((piece) =>
    piece.is === 'text' ? { type: 'text', value: piece.text } : { type: 'element', tagName: 'mark', properties: { className: ['invisible'], title: piece.name }, children: [{ type: 'text', value: piece.label }] },
  )
}

const remarkPlugins = [remarkGfm]
const rehypePlugins: NonNullable<Options['rehypePlugins']> = [rawAsText, [rehypeSanitize, schema], spellOut]
const asWritten = (url: string): string => url

/** Text of a bot as a document. Links and pictures become text with their target, raw HTML is shown as written. */
export const Prose = memo(function Prose({ text }: { readonly text: string }): ReactNode {
  useSpoken()
  if (text.length > charsMax || nestsTooDeep(text)) return <div className="prose plain-text"><PlainText text={text} /></div>
  return <div className="prose">{isSentence(text) ? <p><PlainText text={text} /></p> : parsed(text)}</div>
})

const sentence = /^\p{L}[\p{L}\p{N} ,.;:'"!?()%/-]*[\p{L}\p{N},.;:'"!?()%]$/u
const mayLead = /www\.|\/\//i

/** One line of words and no sign that Markdown knows, as most of what bots say: it is itself, and parsing is most of what drawing it would cost. */
function isSentence(text: string): boolean {
  return sentence.test(text) && !mayLead.test(text)
}

const nestingMax = 100
const deepLine = new RegExp(`^(?: {0,3}>){${nestingMax.toString()},}|^[ \\t]{${(2 * nestingMax).toString()},}(?:[-*+]|\\d+[.)])[ \\t]|[*_~]{${nestingMax.toString()},}`, 'm')

/** Whether a text nests deeper than anybody writes: parsed, it would cost seconds or the stack. It is shown as it is. */
export function nestsTooDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    if (char === 0x5b) depth += 1
    else if (char === 0x5d && depth > 0) depth -= 1
    if (depth > nestingMax) return true
  }
  return deepLine.test(text)
}

/** Parsed texts, the latest last. Rows come and go while one scrolls; their text is parsed once. */
const cache = new Map<string, ReactNode>()
const cachedTextsMax = 400

function parsed(text: string): ReactNode {
  const known = cache.get(text)
  if (known !== undefined) {
    cache.delete(text)
    cache.set(text, known)
    return known
  }
  // A plain function of its options, without hooks; called as one so that its result can be kept.
  const made = Markdown({ children: text, remarkPlugins, rehypePlugins, components, urlTransform: asWritten })
  cache.set(text, made)
  const oldest = cache.size > cachedTextsMax ? cache.keys().next().value : undefined
  if (oldest !== undefined) cache.delete(oldest)
  return made
}
