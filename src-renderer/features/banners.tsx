import { Clapperboard } from 'lucide-react'
import type { ReactNode } from 'react'
import { translated } from '../i18n/language.ts'
import { t } from '../i18n/text.ts'
import { useMethod } from '../store/queries.ts'
import { show, useOpen } from '../store/ui-store.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { FoldButton } from '../ui/pieces.tsx'

/** What the owner must know whatever is on screen: who drives this window, and what went wrong at start. */
export function Banners(): ReactNode {
  const info = useMethod('app.info', {}, { staleTimeMs: 10_000 })
  const [open, setOpen] = useOpen('start problems', true)
  if (info.data === undefined) return null
  const { scriptedOwner, startProblems, proxy } = info.data
  const problems = proxy.state === 'failed' ? [...startProblems, { code: 'proxy-failed' as const, message: t.app.proxyFailed, todo: proxy.note ?? '' }] : startProblems
  if (!scriptedOwner && problems.length === 0) return null
  return (
    <aside className="banners" aria-label={t.app.messages}>
      {scriptedOwner ? (
        <div className="banner-scripted" role="note">
          <Clapperboard className="icon" aria-hidden />
          <strong>{t.app.scriptedOwner}</strong>
          <span>{t.app.scriptedOwnerWhy}</span>
        </div>
      ) : null}
      {problems.length === 0 ? null : (
        <div className="banner-problems" role="alert">
          <FoldButton open={open} onToggle={setOpen}>
            {t.app.startProblems({ n: problems.length })}
          </FoldButton>
          {open
            ? problems.map((problem) => (
                <Notice key={problem.code + problem.message} tone="bad" title={translated(problem.message)} actions={<Button size="small" onPress={() => { show({ at: 'settings', section: 'runtimes' }) }}>{t.app.openSettings}</Button>}>
                  <div className="soft">{translated(problem.todo)}</div>
                  <div className="mono small quiet">{problem.code}</div>
                </Notice>
              ))
            : null}
        </div>
      )}
    </aside>
  )
}
