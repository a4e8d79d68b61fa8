import { CircleCheck, CircleX, FilePen, FilePlus2, FileSearch, Hand, LoaderCircle, OctagonPause, PencilLine, SquareTerminal, TriangleAlert, Wrench, type LucideIcon } from 'lucide-react'
import { useLayoutEffect, useRef, type ReactNode } from 'react'
import type { ToolBody, ToolState } from '../../../../src-preload/contract/rows.ts'
import { t } from '../../../i18n/text.ts'
import { useNowMs } from '../../../store/clock.ts'
import { useOpen } from '../../../store/ui-store.ts'
import { Badge } from '../../../ui/badge.tsx'
import { duration } from '../../../ui/format.ts'
import { ExactText, Path } from '../../../ui/pieces.tsx'

const toolIcons: Readonly<Record<string, LucideIcon>> = {
  write: FilePlus2, edit: FilePen, multiedit: FilePen, patch: FilePen, apply_patch: FilePen, bash: SquareTerminal, read: FileSearch, grep: FileSearch, glob: FileSearch, list: FileSearch,
}

const stateIcons: Readonly<Record<ToolState, LucideIcon>> = {
  preview: PencilLine, 'awaiting-approval': Hand, running: LoaderCircle, done: CircleCheck, failed: CircleX, interrupted: OctagonPause, uncertain: TriangleAlert,
}

/** A tool call, one row from its first argument byte to its final record. A preview is marked as one and says nothing but what it is. */
export function ToolRow({ rowKey, body }: { readonly rowKey: string; readonly body: ToolBody }): ReactNode {
  const preview = body.state === 'preview'
  const [open, setOpen] = useOpen(rowKey, false)
  const Icon = toolIcons[body.tool] ?? Wrench
  const expandable = !preview && (body.input !== null || body.output !== null)
  const head = (
    <>
      <Icon className="icon tool-icon" aria-hidden />
      <span className="tool-name mono">{body.tool}</span>
      <Target body={body} />
      <span className="grow" />
      <Numbers body={body} />
      <State body={body} />
    </>
  )
  return (
    <div className={`tool tool-${body.state}${body.parentCallId === null ? '' : ' tool-nested'}`} data-call-id={body.callId} data-tool={body.tool} data-state={body.state}>
      {expandable ? (
        <button
          type="button"
          className="tool-head tool-head-button"
          aria-expanded={open}
          onClick={() => {
            setOpen(!open)
          }}
        >
          {head}
        </button>
      ) : (
        <div className="tool-head">{head}</div>
      )}
      {body.reason === null ? null : <div className="tool-reason">{body.reason}</div>}
      {preview && body.tail !== '' ? <PreviewTail tail={body.tail} of={body.tailOf} /> : null}
      {expandable && open ? <ToolDetails body={body} /> : null}
    </div>
  )
}

function Target({ body }: { readonly body: ToolBody }): ReactNode {
  if (body.target === null) return body.state === 'preview' ? <span className="quiet small">{t.row.fileNotKnown}</span> : body.title === null ? null : <span className="clip soft">{body.title}</span>
  if (body.tool === 'bash') {
    return (
      <span className="mono clip tool-target" title={body.target}>
        <ExactText text={body.target} strictness="command" />
      </span>
    )
  }
  return (
    <span className="tool-target clip">
      <Path value={body.target} />
    </span>
  )
}

/** Counters that move while a call is being written, and how long it took afterwards. */
function Numbers({ body }: { readonly body: ToolBody }): ReactNode {
  const running = body.state === 'running'
  const now = useNowMs(running)
  if (body.state === 'preview') {
    return (
      <span className="tool-numbers">
        {t.word.bytes(body.argumentBytes)}
        {body.contentLines === null ? null : ` · ${t.word.lines(body.contentLines)}`}
      </span>
    )
  }
  const tookMs = body.endedAt !== null ? body.endedAt - body.startedAt : running ? now - body.startedAt : null
  return (
    <span className="tool-numbers">
      {body.exitCode === null ? null : <span className={body.exitCode === 0 ? 'good' : 'bad'}>{t.row.exit(body.exitCode)}</span>}
      {body.exitCode === null && body.contentLines !== null && body.tool !== 'bash' ? <span>{t.word.lines(body.contentLines)}</span> : null}
      {tookMs === null ? null : <span>{duration(tookMs)}</span>}
    </span>
  )
}

function State({ body }: { readonly body: ToolBody }): ReactNode {
  const Icon = stateIcons[body.state]
  if (body.state === 'preview') {
    return (
      <Badge tone="ink" title={t.row.previewHint}>
        <PencilLine className="icon pulse" aria-hidden />
        {t.row.previewOnly}
      </Badge>
    )
  }
  return (
    <span className={`tool-state tool-state-${body.state}`}>
      <Icon className={`icon icon-small${body.state === 'running' ? ' spin' : ''}${body.exitCode !== null && body.exitCode !== 0 ? ' quiet' : ''}`} aria-hidden />
      {t.row.toolStates[body.state]}
    </span>
  )
}

/** The last lines of what is being written, in a box of fixed height, so that nothing jumps while it grows. */
function PreviewTail({ tail, of }: { readonly tail: string; readonly of: string | null }): ReactNode {
  const box = useRef<HTMLPreElement>(null)
  useLayoutEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }, [tail])
  return (
    <pre ref={box} className="tool-tail" aria-label={t.row.tail(of ?? t.row.input)} aria-live="off" tabIndex={-1}>
      {tail}
    </pre>
  )
}

function ToolDetails({ body }: { readonly body: ToolBody }): ReactNode {
  return (
    <div className="tool-details">
      {body.input === null ? null : (
        <>
          <div className="section-title">
            {t.row.input} <span className="tool-bytes">{t.word.bytes(body.argumentBytes)}</span>
          </div>
          <pre className="code code-tall" tabIndex={0}>
            <ExactText text={body.input} strictness="prose" />
          </pre>
        </>
      )}
      <div className="section-title">
        {t.row.output}
        {body.outputTruncated ? <span className="tool-bytes">{t.row.outputCut}</span> : null}
      </div>
      {body.output === null || body.output === '' ? (
        <div className="quiet small">{t.row.noOutput}</div>
      ) : (
        <pre className="code code-tall" tabIndex={0}>
          <ExactText text={body.output} strictness="prose" />
        </pre>
      )}
    </div>
  )
}

