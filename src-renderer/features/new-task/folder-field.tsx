import type { UseQueryResult } from '@tanstack/react-query'
import { FolderSearch, GitBranch } from 'lucide-react'
import { useEffect, useState, type ReactNode } from 'react'
import type { FolderFacts } from '../../../src-preload/contract/methods.ts'
import type { Mount } from '../../../src-preload/contract/task.ts'
import { call, failureOf } from '../../bridge.ts'
import { translated } from '../../i18n/language.ts'
import { t } from '../../i18n/text.ts'
import { useMethod } from '../../store/queries.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Checkbox, TextField } from '../../ui/fields.tsx'
import { bytes } from '../../ui/format.ts'
import { FailureNotice, Loading, Notice } from '../../ui/notice.tsx'
import { say } from '../../ui/toasts.tsx'
import type { Draft } from './draft.ts'

/** A pause in typing after which a path is looked at. */
const typingPauseMs = 500

/** What is known of the folder at a path, looked at after typing has paused. */
export function useFolderFacts(path: string): UseQueryResult<FolderFacts> {
  const [settled, setSettled] = useState(path)
  useEffect(() => {
    const later = setTimeout(() => {
      setSettled(path)
    }, typingPauseMs)
    return () => {
      clearTimeout(later)
    }
  }, [path])
  const wanted = settled.trim()
  return useMethod('folder.inspect', { path: wanted }, { enabled: wanted !== '' && wanted === path.trim(), staleTimeMs: 5_000 })
}

/** The folder that a task works on: its path, what was found in it, and what of the machine its tests may see. */
export function FolderField({ draft, change, facts, error }: { readonly draft: Draft; readonly change: (part: Partial<Draft>) => void; readonly facts: UseQueryResult<FolderFacts>; readonly error: string | undefined }): ReactNode {
  const pick = async (): Promise<void> => {
    const picked = await call('folder.pick', {})
    if (!picked.ok) say({ tone: 'bad', text: picked.error.message, detail: picked.error.todo })
    else if (picked.value.path !== null) change({ path: picked.value.path, declinedMounts: [] })
  }
  return (
    <>
      <div className="folder-line">
        <TextField label={t.newTask.path} value={draft.path} onChange={(path) => { change({ path }) }} mono error={error} placeholder={t.newTask.pathExample} />
        <Button icon={FolderSearch} onPress={() => { void pick() }}>
          {t.newTask.pick}
        </Button>
      </div>
      {facts.isError ? <FailureNotice failure={failureOf(facts.error)} onRetry={() => { void facts.refetch() }} /> : null}
      {facts.isFetching && facts.data === undefined ? <Loading label={t.newTask.inspecting} /> : null}
      {facts.data === undefined ? null : <FolderFound facts={facts.data} draft={draft} change={change} />}
    </>
  )
}

function FolderFound({ facts, draft, change }: { readonly facts: FolderFacts; readonly draft: Draft; readonly change: (part: Partial<Draft>) => void }): ReactNode {
  if (facts.refusal !== null) return <FailureNotice failure={facts.refusal} title={t.newTask.refused} />
  return (
    <div className="folder-found" data-folder={facts.path}>
      <div className="line folder-facts">
        <Badge icon={GitBranch}>{facts.git === null ? t.newTask.noGit : (facts.git.branch ?? facts.git.commit?.slice(0, 8) ?? t.newTask.noCommits)}</Badge>
        {facts.git !== null && facts.git.dirtyFiles > 0 ? <Badge tone="warn">{t.newTask.dirty({ n: facts.git.dirtyFiles })}</Badge> : null}
        {facts.git !== null && facts.git.submodules > 0 ? <Badge>{t.newTask.submodules({ n: facts.git.submodules })}</Badge> : null}
        <span className="quiet small">
          {t.word.files({ n: facts.files })} · {bytes(facts.bytes)}
        </span>
      </div>
      <p className="field-hint">{t.newTask.copied}</p>
      {facts.notes.length === 0 ? null : (
        <Notice>
          <ul className="notes">
            {facts.notes.map((note) => (
              <li key={note}>{translated(note)}</li>
            ))}
          </ul>
        </Notice>
      )}
      {facts.proposals.length === 0 ? null : (
        <div className="stack">
          <div>
            <div className="field-label">{t.newTask.mounts}</div>
            <div className="field-hint">{t.newTask.mountsHint}</div>
          </div>
          {facts.proposals.map((mount) => (
            <MountChoice key={mount.id} mount={mount} taken={!draft.declinedMounts.includes(mount.id)} onChange={(taken) => { change({ declinedMounts: taken ? draft.declinedMounts.filter((id) => id !== mount.id) : [...draft.declinedMounts, mount.id] }) }} />
          ))}
        </div>
      )}
    </div>
  )
}

function MountChoice({ mount, taken, onChange }: { readonly mount: Mount; readonly taken: boolean; readonly onChange: (taken: boolean) => void }): ReactNode {
  return (
    <Checkbox
      value={taken}
      onChange={onChange}
      label={
        <span className="line">
          {translated(mount.label)}
          <Badge square>{mount.mode === 'copy' ? t.newTask.asCopy : t.newTask.readOnly}</Badge>
        </span>
      }
      hint={
        <>
          {mount.kind === 'dependency' ? t.newTask.dependency : t.newTask.toolchain} <span className="mono">{mount.hostPath}</span>
          {mount.pathEntry === null ? null : ` ${t.newTask.onPath}`}
        </>
      }
    />
  )
}
