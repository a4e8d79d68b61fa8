import { ArrowRight, Cable, CircleAlert, CircleCheck, CircleSlash, FileCheck2, Hand, LoaderCircle, OctagonAlert, RotateCcw, Signature, TriangleAlert, type LucideIcon } from 'lucide-react'
import { sameModel } from '../../../../src-preload/contract/model-name.ts'
import type { ReactNode } from 'react'
import type { EntryBody, HoldOutcome, ModelCall } from '../../../../src-preload/contract/rows.ts'
import { translated, translatedExactly } from '../../../i18n/language.ts'
import { t } from '../../../i18n/text.ts'
import { useNowMs } from '../../../store/clock.ts'
import { AuthorName, Badge } from '../../../ui/badge.tsx'
import { asSentence, count, duration, moment, money } from '../../../ui/format.ts'
import { Notice } from '../../../ui/notice.tsx'
import { Digest, Path } from '../../../ui/pieces.tsx'
import { openCallText } from '../open-call.ts'

const outcomeIcons: Readonly<Record<HoldOutcome, readonly [LucideIcon, string]>> = {
  waiting: [Hand, 'warn'], approved: [CircleCheck, 'good'], denied: [CircleSlash, 'bad'], expired: [CircleAlert, 'warn'], withdrawn: [CircleSlash, 'quiet'], 'never-shown': [TriangleAlert, 'bad'],
}

/** Who approves or denies gives a reason in words of their own; every other cause is the app's. */
function causeShown(outcome: (EntryBody & { is: 'hold' })['outcome'], cause: string): string {
  return outcome === 'denied' || outcome === 'approved' ? cause : translated(cause)
}

/** A hold and what became of it. Outcomes are told apart: only `denied` is the owner's refusal. */
export function HoldEntryRow({ body }: { readonly body: EntryBody & { is: 'hold' } }): ReactNode {
  const [Icon, tone] = outcomeIcons[body.outcome]
  return (
    <span className="quiet-line selectable" data-hold-outcome={body.outcome}>
      <Icon className={`icon icon-small ${tone}`} aria-hidden />
      <span className="quiet-text">
        <span className="quiet">{t.approvals.kinds[body.holdKind]}</span> {translated(body.title)} <span className={tone}>{t.row.holdOutcomes[body.outcome]}</span>
        {body.cause === null ? null : <span className="quiet"> · {causeShown(body.outcome, body.cause)}</span>}
      </span>
    </span>
  )
}

/** The task's status changed. */
export function StatusRow({ body }: { readonly body: EntryBody & { is: 'status' } }): ReactNode {
  return (
    <span className="quiet-line selectable">
      <ArrowRight className="icon icon-small quiet" aria-hidden />
      <span className="quiet-text">
        <strong>{t.status[body.status]}</strong>
        {body.text === '' ? null : <span className="soft"> {translated(body.text)}</span>}
      </span>
    </span>
  )
}

/** A call to a model as the proxy saw it: how it was served, by which model, at what cost. What is not known says so. */
export function CallRow({ body }: { readonly body: EntryBody & { is: 'call' } }): ReactNode {
  const { call } = body
  const open = call.state === 'open'
  const now = useNowMs(open)
  const swapped = call.modelAnswered !== null && !sameModel(call.modelAsked, call.modelAnswered)
  return (
    <span className="quiet-line selectable" data-call-number={call.callNumber} data-serving-path={call.path ?? 'unknown'} data-call-state={call.state}>
      {open ? <LoaderCircle className="icon icon-small quiet spin" aria-hidden /> : <Cable className={`icon icon-small ${call.state === 'done' ? 'quiet' : 'bad'}`} aria-hidden />}
      <span className="call-facts">
        <AuthorName author={call.bot} />
        <span className="mono call-model" title={swapped ? t.row.modelSwapped({ asked: call.modelAsked, answered: call.modelAnswered ?? '' }) : `${t.row.asked} ${call.modelAsked}`}>
          {call.modelAnswered ?? call.modelAsked}
        </span>
        {swapped ? (
          <Badge tone="warn" square icon={TriangleAlert}>
            {t.row.asked} {call.modelAsked}
          </Badge>
        ) : null}
        <span className="quiet">{translated(call.providerLabel)}</span>
        {call.path === null ? open ? null : <span className="quiet">{t.row.pathUnknown}</span> : (
          <Badge square tone={call.path === 'direct' ? 'neutral' : 'warn'} title={t.row.pathHints[call.path]}>
            {t.row.paths[call.path]}
          </Badge>
        )}
        {call.directLeft === true ? <Badge square tone="warn" title={t.row.chargedTwiceHint}>{t.row.chargedTwice}</Badge> : null}
        <span className={call.waits?.for === 'silence' || call.waits?.for === 'keep-alive' ? 'warn nowrap' : 'quiet nowrap'} data-call-waits={open ? (call.waits?.for ?? 'first-byte') : undefined}>{open ? openCallText(call, now) : `${tokensText(call)}${costText(call)}${call.latencyMs === null ? '' : ` · ${duration(call.latencyMs)}`}`}</span>
        {call.state === 'failed' || call.state === 'refused' ? (
          <span className="bad">
            {t.row.callStates[call.state]}
            {call.status === null ? '' : ` ${call.status.toString()}`}
            {call.failure === null ? '' : `: ${asSentence(translated(call.failure.message))} ${translated(call.failure.todo)}`}
          </span>
        ) : null}
      </span>
    </span>
  )
}

function tokensText(call: ModelCall): string {
  if (call.inputTokens === null && call.outputTokens === null) return t.row.tokensUnknown
  const number = (tokens: number | null): string => (tokens === null ? t.word.unknown : count(tokens))
  return `${number(call.inputTokens)} ${t.row.tokensIn}, ${number(call.outputTokens)} ${t.row.tokensOut}`
}

function costText(call: ModelCall): string {
  if (call.costMicroUsd !== null) return ` · ${money(call.costMicroUsd)}`
  return call.demo ? '' : ` · ${t.row.costUnknown}`
}

const decisionTones = { accepted: 'signed', rejected: 'refused', 'revision-requested': 'revised' } as const

/** The owner's word on a result. */
export function DecisionRow({ body, at }: { readonly body: EntryBody & { is: 'decision' }; readonly at: number }): ReactNode {
  const Icon = body.verdict === 'accepted' ? Signature : body.verdict === 'rejected' ? CircleSlash : RotateCcw
  return (
    <div role="group" className={`decision decision-${decisionTones[body.verdict]}`} data-verdict={body.verdict} aria-label={t.row.decisions[body.verdict]}>
      <Icon className="decision-icon" aria-hidden />
      <div className="grow">
        <div className="decision-title">{t.row.decisions[body.verdict]}</div>
        <div className="small soft line">
          {moment(at)}
          {body.treeDigest === null ? null : (
            <span className="digest-fact">
              {t.row.treeDigest} <Digest value={body.treeDigest} />
            </span>
          )}
        </div>
        {body.text === '' ? null : <div className="decision-text selectable">{body.verdict === 'accepted' ? translated(body.text) : body.text}</div>}
      </div>
    </div>
  )
}

/** Whether the patch reached its place. */
export function AppliedRow({ body }: { readonly body: EntryBody & { is: 'applied' } }): ReactNode {
  const tone = body.state === 'applied' ? 'good' : body.state === 'applying' ? 'quiet' : body.state === 'uncertain' ? 'warn' : 'bad'
  const Icon = body.state === 'applying' ? LoaderCircle : body.state === 'applied' ? FileCheck2 : OctagonAlert
  return (
    <div className="line applied selectable" data-applied={body.state}>
      <Icon className={`icon ${tone}${body.state === 'applying' ? ' spin' : ''}`} aria-hidden />
      <div className="grow">
        <div>
          <strong className={tone}>{t.row.applied[body.state]}</strong> {t.row.appliedHow[body.how]}
        </div>
        {body.detail === '' ? null : <div className="soft small">{translated(body.detail)}</div>}
        {body.patchPath === null ? null : <Path value={body.patchPath} />}
      </div>
    </div>
  )
}

const noticeTones = { info: 'info', warning: 'warn', error: 'bad' } as const

/** These hold a command as it ran, or a bot's words: no number in them is written otherwise. */
const quotes = /^(?:Allowed by your standing grant|You allowed|Bot A leaves this to you)\b/

/** Something that the app has to say. */
export function NoticeRow({ body }: { readonly body: EntryBody & { is: 'notice' } }): ReactNode {
  return (
    <Notice tone={noticeTones[body.level]} title={(quotes.test(body.text) ? translatedExactly : translated)(body.text)}>
      {body.todo === null ? null : <div className="soft">{translated(body.todo)}</div>}
    </Notice>
  )
}
