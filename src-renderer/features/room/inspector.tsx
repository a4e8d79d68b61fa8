import { Check, Circle, ShieldAlert, ShieldCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import type { TaskRow } from '../../../src-preload/contract/rows.ts'
import type { EvidenceLevels, Meter } from '../../../src-preload/contract/task.ts'
import { translated } from '../../i18n/language.ts'
import { t } from '../../i18n/text.ts'
import { useNowMs } from '../../store/clock.ts'
import { useMethod } from '../../store/queries.ts'
import { Badge } from '../../ui/badge.tsx'
import { count, countdown, moment, money } from '../../ui/format.ts'
import { Digest, Path } from '../../ui/pieces.tsx'
import { GrantList } from '../grants/grant-list.tsx'
import { profileOf } from '../task-fields/budgets.ts'
import { isUnfinished, statusTones } from './status-glyph.tsx'
import { TrafficSection } from './traffic.tsx'

/** Everything about the shown task that is not in its transcript. */
export function Inspector({ task }: { readonly task: TaskRow }): ReactNode {
  return (
    <aside className="inspector" aria-label={t.inspector.title} tabIndex={0}>
      <StatusSection task={task} />
      <section className="inspector-section" aria-label={t.inspector.budget}>
        <h2 className="section-title">
          {t.inspector.budget} <span className="section-note">{t.budget[profileOf(task.budget)]}</span>
        </h2>
        {task.meters.map((meter) => (
          <MeterLine key={meter.name} meter={meter} />
        ))}
      </section>
      <Evidence levels={task.evidenceLevels} />
      {task.standingGrants.length === 0 ? null : (
        <section className="inspector-section" aria-label={t.grants.title}>
          <h2 className="section-title">{t.grants.title}</h2>
          <GrantList taskId={task.taskId} grants={task.standingGrants} />
        </section>
      )}
      <TrafficSection taskId={task.taskId} />
      <RuntimeSection task={task} />
      <TaskSection task={task} />
    </aside>
  )
}

function StatusSection({ task }: { readonly task: TaskRow }): ReactNode {
  const running = isUnfinished(task.status)
  const now = useNowMs(running)
  const left = task.deadlineAt - now
  return (
    <section className="inspector-section" aria-label={t.inspector.status}>
      <h2 className="section-title">{t.inspector.status}</h2>
      <dl className="facts">
        <dt>{t.inspector.status}</dt>
        <dd>
          <Badge tone={statusTones[task.status]}>{t.status[task.status]}</Badge>
        </dd>
        <dt>{t.inspector.deadline}</dt>
        <dd className={running && left < 60_000 ? 'warn' : ''}>{running ? (left > 0 ? t.inspector.left({ time: countdown(left) }) : t.inspector.passed) : moment(task.deadlineAt)}</dd>
        <dt>{t.inspector.started}</dt>
        <dd>{moment(task.createdAt)}</dd>
        {task.result === null ? null : (
          <>
            <dt>{t.inspector.tree}</dt>
            <dd className="line">
              <Digest value={task.result.treeDigest} />
              <span className={task.result.verified ? 'good small' : 'warn small'}>{task.result.verified ? t.inspector.verified : t.inspector.notVerified}</span>
            </dd>
          </>
        )}
      </dl>
    </section>
  )
}

/** How much of a cap is spent and reserved. What is not known is called unknown, never zero. */
function MeterLine({ meter }: { readonly meter: Meter }): ReactNode {
  const value = (amount: number): string => (meter.name === 'money' ? money(amount) : count(amount))
  const share = (amount: number): number => (meter.limit === null || meter.limit === 0 ? 0 : Math.min(1, amount / meter.limit))
  const used = share(meter.used)
  const level = used >= 1 ? 'full' : used >= 0.8 ? 'high' : 'fine'
  const label = t.inspector.meters[meter.name]
  const spoken = `${value(meter.used)}${meter.unknown ? ` + ${t.inspector.usageUnknown}` : ''} / ${meter.limit === null ? t.inspector.unlimited : value(meter.limit)}`
  return (
    <div className="meter" data-level={level} data-meter={meter.name}>
      <div className="line small">
        <span className="soft grow">{label}</span>
        {meter.reserved > 0 ? <span className="quiet">{t.inspector.reserved({ n: value(meter.reserved) })}</span> : null}
        <span>
          {meter.unknown && meter.used === 0 ? null : value(meter.used)}
          {meter.unknown ? <span className="warn">{meter.used === 0 ? '' : ' + '}{t.inspector.usageUnknown}</span> : null}
          <span className="quiet"> / {meter.limit === null ? t.inspector.unlimited : value(meter.limit)}</span>
        </span>
      </div>
      {meter.limit === null ? null : (
        <div className="meter-track" role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={meter.limit} aria-valuenow={Math.min(meter.used, meter.limit)} aria-valuetext={spoken}>
          <span className="meter-used" style={{ width: `${(used * 100).toFixed(1)}%` }} />
          <span className="meter-reserved" style={{ width: `${(Math.min(1 - used, share(meter.reserved)) * 100).toFixed(1)}%` }} />
        </div>
      )}
    </div>
  )
}

const levelNames = ['offlineMock', 'realProcess', 'realModel', 'humanAcceptance'] as const satisfies readonly (keyof EvidenceLevels)[]

function Evidence({ levels }: { readonly levels: EvidenceLevels }): ReactNode {
  return (
    <section className="inspector-section" aria-label={t.inspector.evidence}>
      <h2 className="section-title">{t.inspector.evidence}</h2>
      <ul className="levels">
        {levelNames.map((name) => {
          const reached = levels[name]
          return (
            <li key={name} className={`level${reached === null ? '' : ' level-reached'}`} data-level={name} data-reached={reached !== null}>
              {reached === null ? <Circle className="icon icon-small" aria-hidden /> : <Check className="icon icon-small" aria-hidden />}
              <span>
                <span className="level-name">{t.inspector.levels[name]}</span>
                <span className="quiet small level-how">{reached === null ? t.inspector.notReached : translated(reached)}</span>
              </span>
            </li>
          )
        })}
      </ul>
      <p className="quiet small">{t.inspector.evidenceHint}</p>
    </section>
  )
}

function RuntimeSection({ task }: { readonly task: TaskRow }): ReactNode {
  const providers = useMethod('providers.list', {})
  const label = (providerId: string): string => translated(providers.data?.find((view) => view.provider.id === providerId)?.provider.label ?? providerId)
  const isolation = task.isolation
  return (
    <section className="inspector-section" aria-label={t.inspector.coder}>
      <h2 className="section-title">{t.inspector.coder}</h2>
      <dl className="facts">
        <dt>{t.inspector.isolation}</dt>
        <dd>
          {isolation === null ? (
            <span className="quiet">{t.inspector.notProbed}</span>
          ) : (
            <span className="line" title={translated(isolation.detail)}>
              {isolation.usable && isolation.level !== 'seatbelt-untested' ? <ShieldCheck className="icon icon-small good" aria-hidden /> : <ShieldAlert className={`icon icon-small ${isolation.usable ? 'warn' : 'bad'}`} aria-hidden />}
              {translated(isolation.summary)}
            </span>
          )}
        </dd>
        <dt>{t.runtime.driven}</dt>
        <dd data-runtime={task.runtime}>{t.runtime.names[task.runtime]}</dd>
        <dt>{t.inspector.openCode}</dt>
        <dd>{task.openCodeVersion ?? <span className="quiet">{t.inspector.noSession}</span>}</dd>
        <dt>{t.inspector.session}</dt>
        <dd className="mono">{task.sessionId ?? <span className="quiet">{t.inspector.noSession}</span>}</dd>
        <dt>{t.word.lead}</dt>
        <dd>
          <span className="mono">{task.models.lead.modelId}</span> <span className="quiet small">{label(task.models.lead.providerId)}</span>
        </dd>
        <dt>{t.word.coder}</dt>
        <dd>
          <span className="mono">{task.models.coder.modelId}</span> <span className="quiet small">{label(task.models.coder.providerId)}</span>
        </dd>
      </dl>
    </section>
  )
}

function TaskSection({ task }: { readonly task: TaskRow }): ReactNode {
  return (
    <section className="inspector-section" aria-label={t.inspector.task}>
      <h2 className="section-title">{t.inspector.task}</h2>
      <p className="soft selectable inspector-requirement" tabIndex={0}>{task.requirement}</p>
      {task.criteria.length === 0 ? null : (
        <ol className="criteria soft selectable">
          {task.criteria.map((criterion, index) => (
            <li key={index}>{criterion}</li>
          ))}
        </ol>
      )}
      <dl className="facts">
        <dt>{t.inspector.source}</dt>
        <dd>{task.source.kind === 'sample' ? t.room.sampleSource : <Path value={task.source.path ?? task.source.label} />}</dd>
        <dt>{t.inspector.grants.edits}</dt>
        <dd>{t.inspector.grantValues[task.grant.edits]}</dd>
        <dt>{t.inspector.grants.testCommand}</dt>
        <dd>{t.inspector.grantValues[task.grant.testCommand]}</dd>
        <dt>{t.inspector.grants.otherCommands}</dt>
        <dd>{t.inspector.grantValues[task.grant.otherCommands]}</dd>
        <dt>{t.room.generation}</dt>
        <dd>{task.generation}</dd>
        <dt>{t.inspector.taskId}</dt>
        <dd className="mono small">{task.taskId}</dd>
      </dl>
    </section>
  )
}
