import { CircleCheck, Info, LoaderCircle, OctagonAlert, TriangleAlert, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Failure } from '../../src-preload/contract/failure.ts'
import { usePatience } from '../store/clock.ts'
import { translated } from '../i18n/language.ts'
import { t } from '../i18n/text.ts'
import { Button } from './button.tsx'

const icons: Readonly<Record<'info' | 'warn' | 'bad' | 'good', LucideIcon>> = { info: Info, warn: TriangleAlert, bad: OctagonAlert, good: CircleCheck }

/** A box that says something that matters. `urgent` is read out at once. */
export function Notice({ tone = 'info', title, urgent = false, actions, children }: { readonly tone?: 'info' | 'warn' | 'bad' | 'good'; readonly title?: ReactNode; readonly urgent?: boolean; readonly actions?: ReactNode; readonly children?: ReactNode }): ReactNode {
  const Icon = icons[tone]
  return (
    <div className={`notice${tone === 'info' ? '' : ` notice-${tone}`} selectable`} role={urgent ? 'alert' : undefined}>
      <Icon className="icon" aria-hidden />
      <div className="grow">
        {title === undefined ? null : <div className="notice-title">{title}</div>}
        {children}
      </div>
      {actions}
    </div>
  )
}

/** A failure in words, with what to do about it, the code that the documentation lists it by and, where it helps, a way to try again. */
export function FailureNotice({ failure, title, onRetry }: { readonly failure: Failure; readonly title?: string; readonly onRetry?: () => void }): ReactNode {
  return (
    <Notice
      tone="bad"
      urgent
      title={title ?? translated(failure.message)}
      actions={
        onRetry === undefined ? undefined : (
          <Button size="small" onPress={onRetry}>
            {t.word.retry}
          </Button>
        )
      }
    >
      {title === undefined ? null : <div>{translated(failure.message)}</div>}
      <div className="soft">{translated(failure.todo)}</div>
      <div className="mono small quiet">{failure.code}</div>
    </Notice>
  )
}

/** Says that something is being fetched, once that takes longer than an eye notices. */
export function Loading({ label }: { readonly label?: string }): ReactNode {
  const show = usePatience()
  return (
    <div className="empty" role="status">
      {show ? (
        <>
          <LoaderCircle className="icon spin" aria-hidden />
          {label ?? t.word.loading}
        </>
      ) : null}
    </div>
  )
}

/** An empty place that says what will be here. */
export function Empty({ icon: Icon, title, children }: { readonly icon: LucideIcon; readonly title: string; readonly children?: ReactNode }): ReactNode {
  return (
    <div className="empty">
      <Icon className="icon" aria-hidden />
      <div className="soft">{title}</div>
      {children === undefined ? null : <div className="small">{children}</div>}
    </div>
  )
}
