import { Check, ChevronRight, Copy } from 'lucide-react'
import { useEffect, useMemo, useState, type ReactNode } from 'react'
import { useSpoken } from '../i18n/language.ts'
import { t } from '../i18n/text.ts'
import { shortDigest, splitPath } from './format.ts'
import { plainPieces, visiblePieces, type Piece, type Strictness } from './visible-text.ts'

/** A digest, shortened; pressing it copies the whole. A plain button: transcripts hold thousands of them. */
export function Digest({ value }: { readonly value: string }): ReactNode {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const later = setTimeout(() => {
      setCopied(false)
    }, 1_500)
    return () => {
      clearTimeout(later)
    }
  }, [copied])
  return (
    <button
      type="button"
      className="digest"
      title={copied ? t.word.copied : value}
      aria-label={t.word.copyDigest({ digest: shortDigest(value) })}
      {...(copied ? { 'data-copied': '' } : {})}
      onClick={() => {
        void copyText(value).then(setCopied)
      }}
    >
      {shortDigest(value)}
      {copied ? <Check className="icon" aria-hidden /> : <Copy className="icon" aria-hidden />}
    </button>
  )
}

/** Puts a text on the clipboard. False where that is not allowed. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // The window denies every permission; the old way needs none.
    const area = document.createElement('textarea')
    area.value = text
    area.className = 'unseen'
    const focused = document.activeElement
    document.body.append(area)
    area.select()
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way to copy that asks for no permission
    const done = document.execCommand('copy')
    area.remove()
    if (focused instanceof HTMLElement) focused.focus()
    return done
  }
}

/** A path whose folder gives way before its name does. */
export function Path({ value }: { readonly value: string }): ReactNode {
  const { folder, name } = splitPath(value)
  return (
    <span className="path" title={value}>
      {folder === '' ? null : (
        <span className="path-folder">
          <Pieces pieces={visiblePieces(folder, 'command')} />
        </span>
      )}
      <span className="path-name">
        <Pieces pieces={visiblePieces(name, 'command')} />
      </span>
    </span>
  )
}

/** Text in which nothing can hide; see `visiblePieces`. */
export function ExactText({ text, strictness }: { readonly text: string; readonly strictness: Strictness }): ReactNode {
  const { tag } = useSpoken()
  // What is spelled out is named in words.
  const pieces = useMemo(() => ({ tag, all: visiblePieces(text, strictness) }), [tag, text, strictness]).all
  return (
    <span className="exact">
      <Pieces pieces={pieces} />
    </span>
  )
}

/** Words that somebody reads and does not approve: as written, but for what would reorder or control the rest. */
export function PlainText({ text }: { readonly text: string }): ReactNode {
  return <Pieces pieces={plainPieces(text)} />
}

function Pieces({ pieces }: { readonly pieces: readonly Piece[] }): ReactNode {
  return pieces.map((piece, index) =>
    piece.is === 'text' ? (
      piece.text
    ) : (
      <mark key={index} className="invisible" title={piece.name}>
        {piece.label}
      </mark>
    ),
  )
}

/** A button that opens and closes what follows it. */
export function FoldButton({ open, onToggle, children, label }: { readonly open: boolean; readonly onToggle: (open: boolean) => void; readonly children: ReactNode; readonly label?: string }): ReactNode {
  return (
    <button
      type="button"
      className="fold-button"
      aria-expanded={open}
      {...(label === undefined ? {} : { 'aria-label': label })}
      onClick={() => {
        onToggle(!open)
      }}
    >
      <ChevronRight className="icon" aria-hidden />
      {children}
    </button>
  )
}
