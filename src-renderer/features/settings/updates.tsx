import type { ReactNode } from 'react'
import type { Settings } from '../../../src-preload/contract/settings.ts'
import type { UpdateState } from '../../../src-preload/contract/updates.ts'
import { failureOf } from '../../bridge.ts'
import { translated } from '../../i18n/language.ts'
import { t } from '../../i18n/text.ts'
import { useAct, useMethod } from '../../store/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/fields.tsx'
import { moment } from '../../ui/format.ts'
import { FailureNotice, Loading, Notice } from '../../ui/notice.tsx'
import { useSave } from './use-save.ts'

/** When new versions are looked for and installed, and what is known of them now. */
export function UpdatesSection({ settings, version }: { readonly settings: Settings; readonly version: string }): ReactNode {
  const { save, failure } = useSave()
  return (
    <div className="stack-wide">
      <Choice
        label={t.updates.label}
        value={settings.updates}
        onChange={(updates) => { save({ ...settings, updates }) }}
        options={[
          { id: 'off', label: t.updates.off, hint: t.updates.offHint },
          { id: 'notify', label: t.updates.notify, hint: t.updates.notifyHint },
          { id: 'automatic', label: t.updates.automatic, hint: t.updates.automaticHint },
        ]}
      />
      {failure === null ? null : <FailureNotice failure={failure} />}
      <h2 className="section-title">{t.updates.now({ version })}</h2>
      <Now />
      <p className="soft">{t.updates.never}</p>
    </div>
  )
}

function Now(): ReactNode {
  const state = useMethod('updates.get', {}, { staleTimeMs: 0 })
  const look = useAct('updates.look')
  const download = useAct('updates.download')
  const install = useAct('updates.install')
  if (state.isError) return <FailureNotice failure={failureOf(state.error)} onRetry={() => { void state.refetch() }} />
  if (state.data === undefined) return <Loading />
  const { tone, words } = told(state.data)
  const failed = look.error ?? download.error ?? install.error
  return (
    <div className="stack" data-update={state.data.is}>
      <Notice tone={tone} title={words}>
        {state.data.is === 'downloading' ? <Progress label={words} share={state.data.share} /> : null}
        {state.data.is === 'failed' ? <div className="soft">{t.updates.failedHint({ at: moment(state.data.at) })}</div> : null}
        {state.data.is === 'ready' ? <div>{state.data.waitsFor === null ? t.updates.readyHint : t.updates.waitsFor({ why: translated(state.data.waitsFor) })}</div> : null}
      </Notice>
      {failed === null ? null : <FailureNotice failure={failureOf(failed)} />}
      <div className="line">
        {state.data.is === 'found' ? (
          <Button variant="primary" onPress={() => { download.mutate({}) }}>{t.updates.download}</Button>
        ) : state.data.is === 'ready' ? (
          <Button variant="primary" isDisabled={state.data.waitsFor !== null} onPress={() => { install.mutate({}) }}>{t.updates.install}</Button>
        ) : state.data.is === 'downloading' || state.data.is === 'unsupported' ? null : (
          <Button isPending={look.isPending || state.data.is === 'checking'} onPress={() => { look.mutate({}) }}>{t.updates.look}</Button>
        )}
      </div>
    </div>
  )
}

function Progress({ label, share }: { readonly label: string; readonly share: number }): ReactNode {
  return (
    <div className="line">
      <div className="meter-track grow" role="progressbar" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.floor(share * 100)}>
        <span className="meter-used" style={{ width: `${(share * 100).toFixed(1)}%` }} />
      </div>
      <span className="quiet">{t.updates.share({ percent: Math.floor(share * 100) })}</span>
    </div>
  )
}

function told(state: UpdateState): { readonly tone: 'info' | 'good' | 'bad'; readonly words: string } {
  switch (state.is) {
    case 'unsupported': return { tone: 'info', words: translated(state.why) }
    case 'idle': return { tone: 'info', words: t.updates.notLooked }
    case 'checking': return { tone: 'info', words: t.updates.checking }
    case 'current': return { tone: 'good', words: t.updates.current({ at: moment(state.checkedAt) }) }
    case 'found': return { tone: 'info', words: t.updates.found({ version: state.version }) }
    case 'downloading': return { tone: 'info', words: t.updates.downloading({ version: state.version }) }
    case 'ready': return { tone: state.waitsFor === null ? 'good' : 'info', words: t.updates.ready({ version: state.version }) }
    case 'failed': return { tone: 'bad', words: translated(state.message) }
  }
}
