import { useEffect, useLayoutEffect, useMemo, useRef, useSyncExternalStore, type ReactNode } from 'react'
import type { ToolBody } from '../../../../src-preload/contract/rows.ts'
import { t } from '../../../i18n/text.ts'
import { ExactText } from '../../../ui/pieces.tsx'
import { languageOf } from './code-languages.ts'
import { ColouredLines, tailLines, type ColouredPiece } from './coloured-lines.ts'

/** More are never in view: the box shows six. */
const linesShownMax = 24
/** Of what an edit replaces, so many lines stay in view once the new text has begun. */
const replacedLinesMax = 3
/** A command that is longer, or has lines, gets the box; a shorter one stands in the row's head. */
export const headCommandCharsMax = 80

const colours = new ColouredLines(() => new Worker(new URL('./colours-worker.ts', import.meta.url), { type: 'module' }))

/** What is known of a call that is still being written, in a box of fixed height where there is text, so that nothing jumps while it grows. */
export function PreviewBody({ body }: { readonly body: ToolBody }): ReactNode {
  return (
    <>
      <Growing body={body} />
      {body.fields === undefined || body.fields.length === 0 ? null : <Fields fields={body.fields} />}
    </>
  )
}

function Growing({ body }: { readonly body: ToolBody }): ReactNode {
  const { tail, tailOf, before } = body
  if (before != null && tailOf !== 'content') return <Box of={t.row.change}><Hunk before={before} after={tailOf === 'newString' ? tail : null} /></Box>
  if (tail === '') return null
  if (tailOf === 'patchText') return <Box of={t.row.change}><PatchLines text={tail} /></Box>
  if (tailOf === 'command') return tail.length <= headCommandCharsMax && !tail.includes('\n') ? null : <Box of={t.row.command}><ExactText text={tail} strictness="command" /></Box>
  return <Box of={tailOf ?? t.row.input}><Code body={body} /></Box>
}

/** Always at its end. Nobody is read what is in it: the row has been announced, and this changes many times a second. */
function Box({ of, children }: { readonly of: string; readonly children: ReactNode }): ReactNode {
  const box = useRef<HTMLPreElement>(null)
  const content = useRef<HTMLSpanElement>(null)
  useLayoutEffect(() => {
    const [frame, text] = [box.current, content.current]
    if (frame === null || text === null) return
    // Told once a frame, when the text has been laid out for painting; asked for earlier, each piece would be laid out by itself.
    const observer = new ResizeObserver(() => {
      frame.scrollTop = frame.scrollHeight
      // Only what goes on above fades out.
      frame.toggleAttribute('data-cut', frame.scrollTop > 0)
    })
    observer.observe(text)
    return () => { observer.disconnect() }
  }, [])
  return (
    <pre ref={box} className="tool-tail" aria-label={t.row.tail({ of })} aria-live="off" tabIndex={-1}>
      <span ref={content} className="tail-text">{children}</span>
    </pre>
  )
}

/** The last lines of a file that is being written, coloured as soon as their colours are known. */
function Code({ body: { callId, target, tail, contentLines } }: { readonly body: ToolBody }): ReactNode {
  const lines = useMemo(() => tailLines(tail, contentLines ?? 0), [tail, contentLines])
  useSyncExternalStore(colours.subscribe, colours.version)
  useEffect(() => {
    if (target !== null && languageOf(target) !== null) colours.ask(callId, target, lines)
  }, [callId, target, lines])
  useEffect(() => () => { colours.end(callId) }, [callId])
  const skipped = Math.max(0, lines.whole.length - linesShownMax)
  return (
    <>
      {lines.whole.slice(skipped).map((text, index) => {
        const number = lines.from + skipped + index
        return <CodeLine key={number} text={text} pieces={colours.line(callId, number)} />
      })}
      {lines.open}
    </>
  )
}

function CodeLine({ text, pieces }: { readonly text: string; readonly pieces: readonly ColouredPiece[] | undefined }): ReactNode {
  // The first line of the tail may have lost its beginning; colours of another text are not put on it.
  const coloured = pieces?.reduce((sum, piece) => sum + piece.text.length, 0)
  if (pieces === undefined || coloured !== text.length) return `${text}\n`
  return (
    <>
      {pieces.map((piece, index) => (piece.light === null ? piece.text : <span key={index} style={{ color: `light-dark(${piece.light}, ${piece.dark ?? piece.light})` }}>{piece.text}</span>))}
      {'\n'}
    </>
  )
}

/** An edit as it grows: the end of what goes, then what comes. `after` null: that has not begun. */
function Hunk({ before, after }: { readonly before: string; readonly after: string | null }): ReactNode {
  const gone = linesOf(before)
  const come = after === null ? [] : linesOf(after).slice(-linesShownMax)
  const shown = gone.slice(after === null ? -linesShownMax : -replacedLinesMax)
  return (
    <>
      {shown.map((line, index) => <Line key={`gone ${index.toString()}`} kind="gone" text={`− ${line}`} />)}
      {come.map((line, index) => <Line key={`come ${index.toString()}`} kind="come" text={`+ ${line}`} />)}
    </>
  )
}

/** What stands behind the last line feed is a line only once it has a character. */
function linesOf(text: string): readonly string[] {
  const lines = text.split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

function PatchLines({ text }: { readonly text: string }): ReactNode {
  return linesOf(text).slice(-linesShownMax).map((line, index) => <Line key={index} kind={line.startsWith('+') ? 'come' : line.startsWith('-') ? 'gone' : line.startsWith('***') ? 'file' : 'same'} text={line} />)
}

function Line({ kind, text }: { readonly kind: 'gone' | 'come' | 'file' | 'same'; readonly text: string }): ReactNode {
  return <span className={`tail-line tail-${kind}`}>{text}{'\n'}</span>
}

/** The small arguments, as far as they have come. */
function Fields({ fields }: { readonly fields: NonNullable<ToolBody['fields']> }): ReactNode {
  return (
    <dl className="tool-fields" aria-live="off">
      {fields.map(({ name, value }) => (
        <div key={name} className="tool-field">
          <dt>{name}</dt>
          <dd className="mono"><ExactText text={value} strictness="prose" /></dd>
        </div>
      ))}
    </dl>
  )
}
