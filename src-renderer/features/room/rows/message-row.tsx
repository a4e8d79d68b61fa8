import { Brain } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Author } from '../../../../src-preload/contract/ids.ts'
import type { EntryBody } from '../../../../src-preload/contract/rows.ts'
import { t } from '../../../i18n/text.ts'
import { useOpen } from '../../../store/ui-store.ts'
import { AuthorName } from '../../../ui/badge.tsx'
import { Prose } from '../../../ui/markdown.tsx'
import { FoldButton, PlainText } from '../../../ui/pieces.tsx'

type Message = EntryBody & { is: 'message' }

/** What somebody said. Reasoning is folded away once it is finished. */
export function MessageRow({ rowKey, author, body }: { readonly rowKey: string; readonly author: Author; readonly body: Message }): ReactNode {
  if (body.reasoning) return <Reasoning rowKey={rowKey} author={author} body={body} />
  return (
    <>
      <Prose text={body.text} />
      {body.streaming ? <span className="caret pulse" aria-hidden /> : null}
    </>
  )
}

function Reasoning({ rowKey, author, body }: { readonly rowKey: string; readonly author: Author; readonly body: Message }): ReactNode {
  const [open, setOpen] = useOpen(rowKey, body.streaming)
  return (
    <div className="quiet-line">
      <Brain className={`icon icon-small quiet${body.streaming ? ' pulse' : ''}`} aria-hidden />
      <div>
        <FoldButton open={open} onToggle={setOpen}>
          <AuthorName author={author} />
          {body.streaming ? t.row.reasoning : t.row.thoughtFor}
        </FoldButton>
        {open ? <div className="reasoning-text selectable"><PlainText text={body.text} /></div> : null}
      </div>
    </div>
  )
}

/** The answer to a question. */
export function AnswerRow({ body }: { readonly body: EntryBody & { is: 'answer' } }): ReactNode {
  return <Prose text={body.text} />
}
