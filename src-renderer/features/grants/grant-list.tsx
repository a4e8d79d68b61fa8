import type { ReactNode } from 'react'
import type { StandingGrantView } from '../../../src-preload/contract/grants.ts'
import type { TaskId } from '../../../src-preload/contract/ids.ts'
import { failureOf, newCommandId } from '../../bridge.ts'
import { translated } from '../../i18n/language.ts'
import { t } from '../../i18n/text.ts'
import { useNowMs } from '../../store/clock.ts'
import { useAct } from '../../store/queries.ts'
import { AuthorName, Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { hourAndMinute } from '../../ui/format.ts'
import { FailureNotice } from '../../ui/notice.tsx'
import { Digest, ExactText } from '../../ui/pieces.tsx'
import { say } from '../../ui/toasts.tsx'
import './grants.css'

/** A task's standing grants, each with all that it covers, how often it was used, and the button that takes it back. */
export function GrantList({ taskId, grants }: { readonly taskId: TaskId; readonly grants: readonly StandingGrantView[] }): ReactNode {
  const now = useNowMs(grants.some((grant) => grant.stands))
  return (
    <ul className="grants">
      {grants.map((grant) => (
        <GrantLine key={grant.grantId} taskId={taskId} grant={grant} now={now} />
      ))}
    </ul>
  )
}

/** What can be said of a grant at a moment. */
export function grantStateAt(grant: StandingGrantView, now: number): 'stands' | 'expired' | 'revoked' | 'over' {
  if (grant.revokedAt !== null) return 'revoked'
  if (now >= grant.expiresAt) return 'expired'
  return grant.stands ? 'stands' : 'over'
}

function GrantLine({ taskId, grant, now }: { readonly taskId: TaskId; readonly grant: StandingGrantView; readonly now: number }): ReactNode {
  const revoke = useAct('grant.revoke', () => { say({ tone: 'good', text: t.grants.revoked }) })
  const state = grantStateAt(grant, now)
  const what = grant.scope.tool === 'bash' ? grant.scope.text : grant.scope.pattern
  return (
    <li className="grant" data-grant-id={grant.grantId} data-grant-state={state}>
      <div className="line">
        <span className="small quiet grow">
          <AuthorName author={grant.bot} /> {grant.scope.tool === 'bash' ? t.grants.inFolder({ folder: grant.scope.cwd }) : t.grants.edits}
        </span>
        <Badge {...(state === 'stands' ? { tone: 'good' as const } : {})}>{t.grants.states[state]}</Badge>
      </div>
      <div className="mono grant-what selectable" tabIndex={0}>
        <ExactText text={what} strictness="command" />
      </div>
      <div className="small quiet">{translated(grant.explained)}</div>
      <div className="line small quiet grant-facts">
        <span>{t.grants.until({ time: hourAndMinute(grant.expiresAt) })}</span>
        <span>{t.grants.used({ n: grant.uses })}</span>
        {grant.lastUsedAt === null ? null : <span>{t.grants.last({ time: hourAndMinute(grant.lastUsedAt) })}</span>}
        <Digest value={grant.digest} />
        <span className="grow" />
        {state !== 'stands' ? null : (
          <Button size="small" aria-label={t.grants.revokeOf({ what })} isPending={revoke.isPending} onPress={() => { revoke.mutate({ commandId: newCommandId(), taskId, grantId: grant.grantId }) }}>
            {t.grants.revoke}
          </Button>
        )}
      </div>
      {revoke.isError ? <FailureNotice failure={failureOf(revoke.error)} /> : null}
    </li>
  )
}
