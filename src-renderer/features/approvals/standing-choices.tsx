import { useState, type ReactNode } from 'react'
import type { GrantScope, StandingChoice, StandingOffer } from '../../../src-preload/contract/grants.ts'
import type { HoldRow } from '../../../src-preload/contract/rows.ts'
import { translated } from '../../i18n/language.ts'
import { t } from '../../i18n/text.ts'
import { useNowMs } from '../../store/clock.ts'
import { useTaskById } from '../../store/hooks.ts'
import { Segments } from '../../ui/fields.tsx'
import { hourAndMinute } from '../../ui/format.ts'
import { Digest } from '../../ui/pieces.tsx'
import { useDesk } from './desk.ts'

/** The second, explicit step: what exactly is allowed again, for how long, and under which digest. Nothing is chosen for the owner but the narrowest and shortest. */
export function StandingChoices({ row, offer, button }: { readonly row: HoldRow; readonly offer: StandingOffer; readonly button: (choice: StandingChoice, label: string) => ReactNode }): ReactNode {
  const desk = useDesk()
  const [digest, setDigest] = useState(offer.choices[0]?.digest)
  const task = useTaskById(row.taskId)
  const now = useNowMs()
  const choice = offer.choices.find((each) => each.digest === digest) ?? offer.choices[0]
  if (choice === undefined) return null
  const scopes = [...new Map(offer.choices.map((each) => [scopeKey(each.scope), each.scope])).entries()]
  const choose = (scope: string, forMs: number | null): void => {
    setDigest(offer.choices.find((each) => scopeKey(each.scope) === scope && each.forMs === forMs)?.digest)
    desk.offered()
  }
  const endsAt = Math.min(task?.deadlineAt ?? Infinity, choice.forMs === null ? Infinity : now + choice.forMs)
  return (
    <div className="standing" role="group" aria-label={t.approvals.standing.title[choice.scope.tool]}>
      <h3 className="section-title">{t.approvals.standing.title[choice.scope.tool]}</h3>
      <div className="line standing-choices">
        {scopes.length < 2 ? null : (
          <Segments label={t.approvals.standing.what} value={scopeKey(choice.scope)} onChange={(scope) => { choose(scope, choice.forMs) }} options={scopes.map(([id, scope]) => ({ id, label: scopeName(scope) }))} />
        )}
        <Segments
          label={t.approvals.standing.howLong}
          value={String(choice.forMs)}
          onChange={(forMs) => { choose(scopeKey(choice.scope), forMs === 'null' ? null : Number(forMs)) }}
          options={offer.choices.filter((each) => scopeKey(each.scope) === scopeKey(choice.scope)).map(({ forMs }) => ({ id: String(forMs), label: howLong(forMs) }))}
        />
        <Digest value={choice.digest} />
      </div>
      <p className="soft small">{choice.scope.tool === 'bash' ? t.approvals.standing.scopeBash : t.approvals.standing.scopeEdit} <span className="quiet">{translated(offer.explained)}.</span></p>
      {button(choice, t.approvals.standing.confirm({ time: hourAndMinute(endsAt) }))}
    </div>
  )
}

function scopeKey(scope: GrantScope): string {
  return scope.tool === 'bash' ? scope.text : scope.pattern
}

function scopeName(scope: GrantScope): string {
  return scope.tool === 'edit' && scope.pattern.endsWith('/**') ? t.approvals.standing.below({ folder: scope.pattern.slice('/workspace'.length, -2) }) : t.approvals.standing.file
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

function howLong(forMs: number | null): string {
  if (forMs === null) return t.approvals.standing.task
  return forMs < hourMs ? t.approvals.standing.minutes({ n: Math.round(forMs / minuteMs) }) : t.approvals.standing.hours({ n: Math.round(forMs / hourMs) })
}
