import type { ReactNode } from 'react'
import type { EntryBody } from '../../../../src-preload/contract/rows.ts'
import type { Brief } from '../../../../src-preload/contract/task.ts'
import { t } from '../../../i18n/text.ts'
import { useOpen } from '../../../store/ui-store.ts'
import { Badge, type Tone } from '../../../ui/badge.tsx'
import { lineCount } from '../../../ui/format.ts'
import { Prose } from '../../../ui/markdown.tsx'
import { Digest, ExactText, FoldButton } from '../../../ui/pieces.tsx'

type BriefBody = EntryBody & { is: 'brief' }

const tones: Readonly<Record<BriefBody['state'], Tone>> = { proposed: 'warn', approved: 'good', denied: 'bad', replaced: 'neutral' }

/** A brief as a document, with the digest of the bytes that the owner approves. */
export function BriefRow({ rowKey, body }: { readonly rowKey: string; readonly body: BriefBody }): ReactNode {
  return (
    <div className="sheet" role="group" aria-label={t.row.brief}>
      <header className="sheet-head">
        <h2 className="sheet-title">{t.row.brief}</h2>
        <span className="quiet small">{t.row.briefVersion({ n: body.inputVersion })}</span>
        <Badge tone={tones[body.state]}>{t.row.briefStates[body.state]}</Badge>
        <span className="grow" />
        <Digest value={body.inputDigest} />
      </header>
      <BriefDocument brief={body.brief} foldKey={rowKey} />
    </div>
  )
}

/** The parts of a brief, for reading. `exact`: as plain text in which nothing can hide, for whoever is about to approve it. */
export function BriefDocument({ brief, foldKey, exact = false }: { readonly brief: Brief; readonly foldKey: string; readonly exact?: boolean }): ReactNode {
  const words = (text: string): ReactNode => (exact ? <p className="plain-text selectable"><ExactText text={text} strictness="prose" /></p> : <Prose text={text} />)
  return (
    <div className="sheet-body brief">
      <h3 className="section-title">{t.row.goal}</h3>
      {words(brief.goal)}
      {brief.scope === '' ? null : (
        <>
          <h3 className="section-title">{t.row.scope}</h3>
          {words(brief.scope)}
        </>
      )}
      {brief.criteria.length === 0 ? null : (
        <>
          <h3 className="section-title">{t.row.criteria}</h3>
          <ol className="criteria selectable">
            {brief.criteria.map((criterion, index) => (
              <li key={index}>{exact ? <ExactText text={criterion} strictness="prose" /> : criterion}</li>
            ))}
          </ol>
        </>
      )}
      <h3 className="section-title">{t.row.testCommand}</h3>
      <pre className="code code-line">
        <ExactText text={brief.testCommand} strictness="command" />
      </pre>
      {brief.excerpts.length === 0 ? null : (
        <>
          <h3 className="section-title">{t.row.excerpts}</h3>
          <ul className="stack-tight">
            {brief.excerpts.map((excerpt, index) => (
              <Excerpt key={excerpt.id} foldKey={`${foldKey} excerpt ${index.toString()}`} id={excerpt.id} content={excerpt.content} />
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

function Excerpt({ foldKey, id, content }: { readonly foldKey: string; readonly id: string; readonly content: string }): ReactNode {
  const [open, setOpen] = useOpen(foldKey, false)
  return (
    <li>
      <FoldButton open={open} onToggle={setOpen}>
        <span className="mono">{id}</span>
        <span className="quiet">{t.word.lines({ n: lineCount(content) })}</span>
      </FoldButton>
      {open ? (
        <pre className="code code-tall" tabIndex={0}>
          <ExactText text={content} strictness="prose" />
        </pre>
      ) : null}
    </li>
  )
}
