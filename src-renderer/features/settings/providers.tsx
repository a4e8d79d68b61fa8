import { KeyRound, Plus } from 'lucide-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { AppInfo } from '../../../src-preload/contract/methods.ts'
import type { ProviderView } from '../../../src-preload/contract/settings.ts'
import { failureOf } from '../../bridge.ts'
import { translated } from '../../i18n/language.ts'
import { t } from '../../i18n/text.ts'
import { useAct, useMethod } from '../../store/queries.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Select } from '../../ui/fields.tsx'
import { duration } from '../../ui/format.ts'
import { FailureNotice, Loading, Notice } from '../../ui/notice.tsx'
import { ProviderDialog } from './provider-dialog.tsx'

const keyTones: Readonly<Record<ProviderView['key'], Tone>> = { 'none-needed': 'neutral', stored: 'good', 'session-only': 'warn', 'from-environment': 'good', missing: 'bad' }

/** Providers with the state of their keys: add, edit, test, remove. */
export function ProvidersSection({ info }: { readonly info: AppInfo }): ReactNode {
  const list = useMethod('providers.list', {}, { staleTimeMs: 0 })
  const [editing, setEditing] = useState<ProviderView | 'new' | null>(null)
  const [removing, setRemoving] = useState<ProviderView | null>(null)
  if (list.isError) return <FailureNotice failure={failureOf(list.error)} onRetry={() => { void list.refetch() }} />
  if (list.data === undefined) return <Loading />
  return (
    <div className="stack-wide">
      {info.keyring.real ? null : (
        <Notice tone="warn" title={t.providers.noKeyring}>
          <div className="soft">{t.providers.noKeyringHint({ backend: info.keyring.backend })}</div>
        </Notice>
      )}
      <ul className="providers">
        {list.data.map((view) => (
          <ProviderCard key={view.provider.id} view={view} onEdit={() => { setEditing(view) }} onRemove={() => { setRemoving(view) }} />
        ))}
      </ul>
      <div>
        <Button icon={Plus} onPress={() => { setEditing('new') }}>
          {t.providers.add}
        </Button>
      </div>
      {editing === null ? null : <ProviderDialog view={editing === 'new' ? null : editing} others={list.data} keyring={info.keyring.real} onClose={() => { setEditing(null) }} />}
      {removing === null ? null : <RemoveDialog view={removing} onClose={() => { setRemoving(null) }} />}
    </div>
  )
}

function ProviderCard({ view, onEdit, onRemove }: { readonly view: ProviderView; readonly onEdit: () => void; readonly onRemove: () => void }): ReactNode {
  const { provider } = view
  const own = view.origin === 'settings'
  return (
    <li className="provider" data-provider={provider.id}>
      <div className="line">
        <h2 className="provider-name">{translated(provider.label)}</h2>
        <Badge>{t.providers.origins[view.origin]}</Badge>
        <Badge tone={keyTones[view.key]} icon={KeyRound}>
          {t.providers.keys[view.key]}
        </Badge>
        <span className="grow" />
        {own ? (
          <>
            <Button size="small" aria-label={`${t.word.edit}: ${provider.label}`} onPress={onEdit}>
              {t.word.edit}
            </Button>
            <Button size="small" variant="danger" aria-label={`${t.word.remove}: ${provider.label}`} onPress={onRemove}>
              {t.word.remove}
            </Button>
          </>
        ) : null}
      </div>
      <div className="line soft small">
        <span className="mono clip">{provider.baseUrl}</span>
        <span className="nowrap">{t.providers.apis[provider.api]}</span>
        {provider.exchange === undefined ? null : <span className="clip">{t.exchange.at({ host: new URL(provider.exchange.url).host })}</span>}
      </div>
      <TestLine view={view} />
    </li>
  )
}

/** One real request to a model of this provider, and what came back. */
function TestLine({ view }: { readonly view: ProviderView }): ReactNode {
  const { provider } = view
  const [model, setModel] = useState(provider.models[0]?.id ?? '')
  const test = useAct('provider.test')
  return (
    <>
      <div className="line provider-test">
        <Select label={t.providers.model} value={model} onChange={setModel} groups={[{ label: translated(provider.label), options: provider.models.map((one) => ({ id: one.id, label: one.label ?? one.id })) }]} />
        <Button size="small" aria-label={`${t.providers.test}: ${translated(provider.label)}`} isPending={test.isPending} isDisabled={view.key === 'missing'} onPress={() => { test.mutate({ id: provider.id, modelId: model }) }}>
          {t.providers.test}
        </Button>
        {test.isSuccess ? (
          <span className={test.data.status < 400 ? 'good small' : 'bad small'} role="status">
            {t.providers.answered({ status: test.data.status, model: test.data.modelAnswered ?? t.word.unknown, time: duration(test.data.latencyMs) })}
          </span>
        ) : null}
      </div>
      {test.isError ? <FailureNotice failure={failureOf(test.error)} /> : null}
    </>
  )
}

function RemoveDialog({ view, onClose }: { readonly view: ProviderView; readonly onClose: () => void }): ReactNode {
  const queries = useQueryClient()
  const remove = useAct('provider.remove', () => {
    void queries.invalidateQueries()
    onClose()
  })
  return (
    <ConfirmDialog title={t.providers.removeTitle({ label: view.provider.label })} hint={t.providers.removeHint} confirm={t.word.remove} act={remove} onClose={onClose} onConfirm={() => { remove.mutate({ id: view.provider.id }) }} />
  )
}
