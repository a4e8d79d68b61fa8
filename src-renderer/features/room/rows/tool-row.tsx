import { Ban, CircleCheck, CircleX, FilePen, FilePlus2, FileSearch, Hand, Hourglass, LoaderCircle, OctagonPause, PencilLine, SquareTerminal, TriangleAlert, Wrench, type LucideIcon } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { ToolBody, ToolState } from '../../../../src-preload/contract/rows.ts'
import { translated } from '../../../i18n/language.ts'
import { t } from '../../../i18n/text.ts'
import { useNowMs } from '../../../store/clock.ts'
import { useOpen } from '../../../store/ui-store.ts'
import { Badge } from '../../../ui/badge.tsx'
import { countdown, duration } from '../../../ui/format.ts'
import { ExactText, Path } from '../../../ui/pieces.tsx'
import { headCommandCharsMax, PreviewBody } from './preview-body.tsx'

const toolIcons: Readonly<Record<string, LucideIcon>> = {
  write: FilePlus2, edit: FilePen, multiedit: FilePen, patch: FilePen, apply_patch: FilePen, bash: SquareTerminal, read: FileSearch, grep: FileSearch, glob: FileSearch, list: FileSearch,
}

/** What they are about stands in their arguments. */
const filelessTools: ReadonlySet<string> = new Set(['bash', 'grep', 'glob', 'list', 'question', 'task', 'todowrite', 'webfetch', 'websearch'])

/** A model that thinks between two words is no news. */
const stillFromMs = 5_000

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
      {body.grantId === undefined ? null : <Badge title={t.grants.byGrantHint({ id: body.grantId })}>{t.grants.byGrant}</Badge>}
      <Numbers body={body} />
      <State body={body} />
    </>
  )
  return (
    <div className={`tool tool-${body.state}${body.parentCallId === null ? '' : ' tool-nested'}`} aria-live="off" data-call-id={body.callId} data-tool={body.tool} data-state={body.state}>
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
      <WaitSaid body={body} />
      {body.reason === null ? null : <div className="tool-reason">{translated(body.reason)}</div>}
      {preview ? <PreviewBody body={body} /> : null}
      {expandable && open ? <ToolDetails body={body} /> : null}
    </div>
  )
}

function Target({ body }: { readonly body: ToolBody }): ReactNode {
  if (body.target === null && body.state === 'preview' && body.tailOf === 'command' && body.tail !== '') return <TypedCommand text={body.tail} />
  if (body.target === null) return body.state === 'preview' ? (filelessTools.has(body.tool) ? null : <span className="quiet small">{t.row.fileNotKnown}</span>) : body.title === null ? null : <span className="clip soft">{body.title}</span>
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

/** A command that is still being typed: marked as incomplete by what stands at its end. */
function TypedCommand({ text }: { readonly text: string }): ReactNode {
  const [first = ''] = text.split('\n', 1)
  const short = first.length > headCommandCharsMax ? first.slice(0, headCommandCharsMax) : first
  return (
    <span className="mono clip tool-target tool-typed" title={t.row.commandIncomplete}>
      <ExactText text={short} strictness="command" />
      <span className="tool-caret pulse" aria-hidden />
      <span className="unseen">{t.row.commandIncomplete}</span>
    </span>
  )
}

/** What has come of a call so far. Once it stands still, since when, in the place of its lines: the file's name keeps its room. */
function Growing({ bytes, lines }: { readonly bytes: number; readonly lines: number | null }): ReactNode {
  const now = useNowMs(true)
  const [last, setLast] = useState({ bytes, at: now })
  if (last.bytes !== bytes) setLast({ bytes, at: now })
  const still = now - last.at
  return (
    <span className="tool-numbers">
      {t.word.bytes({ n: bytes })}
      {still >= stillFromMs ? <span className="warn" title={t.row.stillHint}>{t.row.still({ time: countdown(still) })}</span> : lines === null ? null : ` · ${t.word.lines({ n: lines })}`}
    </span>
  )
}

/** Counters that move while a call is being written, and how long it took afterwards. */
function Numbers({ body }: { readonly body: ToolBody }): ReactNode {
  const running = body.state === 'running'
  const waitsSince = body.state === 'awaiting-approval' ? body.waitsSince : writeWaitOf(body)?.since
  const now = useNowMs(running || waitsSince != null)
  if (body.state === 'preview') return <Growing bytes={body.argumentBytes} lines={body.contentLines} />
  if (waitsSince != null) return <span className="tool-numbers">{countdown(now - waitsSince)}</span>
  const tookMs = body.endedAt !== null ? body.endedAt - body.startedAt : running ? now - body.startedAt : null
  return (
    <span className="tool-numbers">
      {body.exitCode === null ? null : <span className={body.exitCode === 0 ? 'good' : 'bad'}>{t.row.exit({ code: body.exitCode })}</span>}
      {body.exitCode === null && body.contentLines !== null && body.tool !== 'bash' ? <span>{t.word.lines({ n: body.contentLines })}</span> : null}
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
  const wait = writeWaitOf(body)
  if (wait !== null) {
    return (
      <span className="tool-state tool-state-waits" title={wait.for === 'refusal' ? t.row.writeRefusedHint : t.row.writeWaitsHint} data-write-waits={wait.for}>
        {wait.for === 'refusal' ? <Ban className="icon icon-small" aria-hidden /> : <Hourglass className="icon icon-small" aria-hidden />}
        {t.row.writeWaits[wait.for]}
      </span>
    )
  }
  if (isAsking(body)) {
    return (
      <span className="tool-state tool-state-waits">
        <Hourglass className="icon icon-small" aria-hidden />
        {t.row.questionWaits}
      </span>
    )
  }
  return (
    <span className={`tool-state tool-state-${body.state}`}>
      <Icon className={`icon icon-small${body.state === 'running' ? ' spin' : ''}${body.exitCode !== null && body.exitCode !== 0 ? ' quiet' : ''}`} aria-hidden />
      {t.row.toolStates[body.state]}
    </span>
  )
}

/** OpenCode's question tool does nothing but wait for the answer, which has a row of its own. */
function isAsking({ state, tool }: ToolBody): boolean {
  return state === 'running' && tool === 'question'
}

/** What an allowed call waits for before it may write, or that a call was not allowed and is about to end. */
function writeWaitOf({ state, waits }: ToolBody): NonNullable<ToolBody['waits']> | null {
  return state === 'running' ? (waits ?? null) : null
}

/** Says to a screen reader once that a call waits and for what; how long is for the eye. It stands there before it has words, else they would not be read. */
function WaitSaid({ body }: { readonly body: ToolBody }): ReactNode {
  if (body.state !== 'running' && body.state !== 'awaiting-approval') return null
  const wait = writeWaitOf(body)
  return (
    <div className="unseen" role="status">
      {wait === null ? null : <span>{`${body.tool} ${body.target ?? ''}: ${t.row.writeWaits[wait.for]}`}</span>}
    </div>
  )
}

function ToolDetails({ body }: { readonly body: ToolBody }): ReactNode {
  return (
    <div className="tool-details">
      {body.input === null ? null : (
        <>
          <div className="section-title">
            {t.row.input} <span className="tool-bytes">{t.word.bytes({ n: body.argumentBytes })}</span>
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

