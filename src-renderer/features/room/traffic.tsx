import { LoaderCircle, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { sameModel } from '../../../src-preload/contract/model-name.ts'
import type { ModelCall } from '../../../src-preload/contract/rows.ts'
import { t } from '../../i18n/text.ts'
import { useNowMs } from '../../store/clock.ts'
import { useCallKeys, useEntry } from '../../store/hooks.ts'
import { Badge } from '../../ui/badge.tsx'
import { count, duration, money } from '../../ui/format.ts'
import { openCallText } from './open-call.ts'

/** As many of the latest calls as a look takes in; all are in the transcript and the audit log. */
const shownMax = 30

/** The model calls of a task as they happen, newest first: by which way, which model, at what cost and how long. */
export function TrafficSection({ taskId }: { readonly taskId: string }): ReactNode {
  const keys = useCallKeys(taskId)
  return (
    <section className="inspector-section" aria-label={t.inspector.traffic}>
      <h2 className="section-title">
        {t.inspector.traffic} <span className="section-note">{count(keys.length)}</span>
      </h2>
      {keys.length === 0 ? <p className="quiet small">{t.inspector.noTraffic}</p> : (
        <ol className="traffic">
          {keys.slice(-shownMax).reverse().map((key) => <TrafficLine key={key} rowKey={key} />)}
        </ol>
      )}
    </section>
  )
}

function TrafficLine({ rowKey: key }: { readonly rowKey: string }): ReactNode {
  const row = useEntry(key)
  const call = row?.body.is === 'call' ? row.body.call : null
  const now = useNowMs(call?.state === 'open')
  if (call === null) return null
  const swapped = call.modelAnswered !== null && !sameModel(call.modelAsked, call.modelAnswered)
  return (
    <li className="traffic-line" data-call-number={call.callNumber} data-serving-path={call.path ?? 'unknown'} data-swapped={swapped}>
      <span className="line small">
        <span className={`name name-${call.bot}`}>{t.word.letters[call.bot]}</span>
        <span className="mono grow traffic-model" title={`${t.row.asked} ${call.modelAsked}`}>{call.modelAnswered ?? call.modelAsked}</span>
        {call.state === 'open' ? <LoaderCircle className="icon icon-small quiet spin" aria-label={t.row.callStates.open} /> : null}
        {call.directLeft === true ? <Badge square tone="warn" title={t.row.chargedTwiceHint}>{t.row.chargedTwice}</Badge> : null}
        {call.path === null ? null : <Badge square tone={call.path === 'direct' ? 'neutral' : 'warn'} title={t.row.pathHints[call.path]}>{t.row.paths[call.path]}</Badge>}
      </span>
      {swapped ? (
        <span className="bad small line" role="alert">
          <TriangleAlert className="icon icon-small" aria-hidden />
          {t.row.modelSwapped({ asked: call.modelAsked, answered: call.modelAnswered ?? '' })}
        </span>
      ) : null}
      <span className={`small ${call.state === 'failed' || call.state === 'refused' ? 'bad' : 'quiet'}`}>{facts(call, now)}</span>
    </li>
  )
}

/** What is not known says so. */
function facts(call: ModelCall, now: number): string {
  const tokens = call.inputTokens === null && call.outputTokens === null ? t.row.tokensUnknown : `${numberOf(call.inputTokens)} ${t.row.tokensIn}, ${numberOf(call.outputTokens)} ${t.row.tokensOut}`
  if (call.state === 'open') return openCallText(call, now)
  const cost = call.costMicroUsd !== null ? money(call.costMicroUsd) : call.demo ? null : t.row.costUnknown
  const state = call.state === 'done' ? null : `${t.row.callStates[call.state]}${call.status === null ? '' : ` ${call.status.toString()}`}`
  return [state, tokens, cost, call.latencyMs === null ? null : duration(call.latencyMs)].filter((part) => part !== null).join(' · ')
}

function numberOf(tokens: number | null): string {
  return tokens === null ? '?' : count(tokens)
}
