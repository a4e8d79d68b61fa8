import { FolderOpen, Play, type LucideIcon } from 'lucide-react'
import { useMemo, useRef, useState, type ReactNode } from 'react'
import { Label, RadioButton, RadioField, RadioGroup } from 'react-aria-components'
import type { FolderFacts } from '../../../src-preload/contract/methods.ts'
import { failureOf, newCommandId } from '../../bridge.ts'
import { t } from '../../i18n/text.ts'
import { useAct, useMethod } from '../../store/queries.ts'
import { showTask } from '../../store/ui-store.ts'
import { Button, Keys } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields.tsx'
import { isChord, onMac } from '../../ui/keys.ts'
import { FailureNotice } from '../../ui/notice.tsx'
import { useRunSample } from '../room/run-sample.ts'
import { BudgetFields } from '../task-fields/budget-fields.tsx'
import { GrantFields } from '../task-fields/grant-fields.tsx'
import { ModelField } from '../task-fields/model-field.tsx'
import { RuntimeField, runtimeProblem } from '../task-fields/runtime-field.tsx'
import { CriteriaField } from './criteria-field.tsx'
import { emptyDraft, newTaskOf, problemsOf, withModels, type Draft } from './draft.ts'
import { changeDraft, dropDraft, useDraft } from './draft-store.ts'
import { FolderField, useFolderFacts } from './folder-field.tsx'
import { StartNote } from '../start-note.tsx'
import './new-task.css'

/** Where a task begins. */
export function NewTaskScreen(): ReactNode {
  const settings = useMethod('settings.get', {})
  const providers = useMethod('providers.list', {})
  const kept = useDraft()
  const base = useMemo(() => emptyDraft(settings.data ?? null), [settings.data])
  const draft = useMemo(() => withModels(kept ?? base, providers.data ?? []), [kept, base, providers.data])
  const change = (part: Partial<Draft>): void => {
    changeDraft(draft, part)
  }
  return (
    <div className="screen">
      <div className="screen-column">
        <h1 className="screen-title">{t.nav.newTask}</h1>
        <SourceField draft={draft} change={change} />
        {draft.source === 'sample' ? <SampleForm /> : <FolderForm draft={draft} change={change} />}
      </div>
    </div>
  )
}

interface DraftProps {
  readonly draft: Draft
  readonly change: (part: Partial<Draft>) => void
}

function SourceField({ draft, change }: DraftProps): ReactNode {
  return (
    <RadioGroup className="sources" value={draft.source} onChange={(source) => { change({ source: source === 'sample' ? 'sample' : 'folder' }) }}>
      <Label className="unseen">{t.newTask.source}</Label>
      <SourceCard id="folder" icon={FolderOpen} title={t.newTask.folder} hint={t.newTask.folderHint} />
      <SourceCard id="sample" icon={Play} title={t.newTask.sample} hint={t.newTask.sampleHint} />
    </RadioGroup>
  )
}

function SourceCard({ id, icon: Icon, title, hint }: { readonly id: Draft['source']; readonly icon: LucideIcon; readonly title: string; readonly hint: string }): ReactNode {
  return (
    <RadioField value={id} className="source-field">
      <RadioButton className="source-card">
        <Icon className="icon" aria-hidden />
        <span>
          <span className="source-title">{title}</span>
          <span className="field-hint">{hint}</span>
        </span>
      </RadioButton>
    </RadioField>
  )
}

function SampleForm(): ReactNode {
  const sample = useRunSample()
  return (
    <div className="form-section">
      <p className="soft">{t.newTask.sampleStory}</p>
      <div className="line">
        <Button variant="primary" icon={Play} isPending={sample.isPending} onPress={() => { sample.run() }}>
          {t.first.runSample}
        </Button>
        <span className="quiet small"><StartNote pending={sample.isPending} usual={t.first.sampleNote} /></span>
      </div>
      {sample.error === null ? null : <FailureNotice failure={failureOf(sample.error)} />}
    </div>
  )
}

function FolderForm({ draft, change }: DraftProps): ReactNode {
  const folder = useFolderFacts(draft.path)
  const facts = folder.data ?? null
  const [tried, setTried] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const problems = problemsOf(draft, facts)
  const { path: _, ...besidePath } = problems
  const isLookedAt = facts === null && draft.path.trim() !== '' && !folder.isError
  // A folder that is still looked at is no fault of its field: what is missing is on its way.
  const shown: ReturnType<typeof problemsOf> = !tried ? {} : isLookedAt ? besidePath : problems
  const create = useAct('task.create', ({ taskId }) => {
    dropDraft()
    showTask(taskId)
  })
  const submit = (): void => {
    setTried(true)
    const task = newTaskOf(draft, facts, newCommandId())
    if (task === null) {
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid] button')?.focus())
      return
    }
    if (!create.isPending) create.mutate(task)
  }
  return (
    <form
      ref={form}
      className="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
      onKeyDown={(event) => {
        if (isChord(event.nativeEvent, 'mod+enter', onMac())) submit()
      }}
    >
      <Section title={t.newTask.folderSection}>
        <FolderField draft={draft} change={change} facts={folder} error={shown.path} />
      </Section>
      <WhatSection draft={draft} change={change} facts={facts} shown={shown} />
      <HowSections draft={draft} change={change} shown={shown} />
      <div className="form-end">
        {/* Beside the button, which stays in view: a long form may be scrolled anywhere when it is pressed. */}
        {create.isError ? <FailureNotice failure={failureOf(create.error)} title={t.newTask.notStarted} /> : null}
        <div className="form-end-line">
          <Button type="submit" variant="primary" isPending={create.isPending}>
            {t.newTask.start}
          </Button>
          <Keys chord="mod+enter" />
          <span className="warn small" role="status">
            {tried && isLookedAt ? t.newTask.lookFirst : null}
          </span>
          {tried && isLookedAt ? null : <span className="quiet small"><StartNote pending={create.isPending} usual={t.newTask.startHint} /></span>}
        </div>
      </div>
    </form>
  )
}

function WhatSection({ draft, change, facts, shown }: DraftProps & { readonly facts: FolderFacts | null; readonly shown: ReturnType<typeof problemsOf> }): ReactNode {
  return (
    <Section title={t.newTask.what}>
      <TextField label={t.newTask.title} value={draft.title} onChange={(title) => { change({ title }) }} maxLength={200} error={shown.title} placeholder={t.newTask.titleExample} />
      <TextField label={t.newTask.requirement} hint={t.newTask.requirementHint} value={draft.requirement} onChange={(requirement) => { change({ requirement }) }} lines={5} maxLength={12_000} error={shown.requirement} />
      <CriteriaField value={draft.criteria} onChange={(criteria) => { change({ criteria }) }} error={shown.criteria} />
      <div className="stack-tight">
        <TextField label={t.newTask.testCommand} hint={t.newTask.testHint} value={draft.testCommand} onChange={(testCommand) => { change({ testCommand }) }} mono maxLength={1_000} error={shown.testCommand} placeholder={facts?.testCommands[0] ?? 'npm test'} />
        {facts === null || facts.testCommands.length === 0 ? null : (
          <div className="suggestions">
            <span className="quiet small">{t.newTask.found}</span>
            {facts.testCommands.map((command) => (
              <Button key={command} size="small" className="suggestion" onPress={() => { change({ testCommand: command }) }}>
                {command}
              </Button>
            ))}
          </div>
        )}
      </div>
    </Section>
  )
}

function HowSections({ draft, change, shown }: DraftProps & { readonly shown: ReturnType<typeof problemsOf> }): ReactNode {
  const providers = useMethod('providers.list', {})
  const views = providers.data ?? []
  return (
    <>
      <Section title={t.newTask.who}>
        <div className="field-pair">
          <ModelField label={t.newTask.leadModel} hint={t.newTask.leadHint} views={views} value={draft.lead} onChange={(lead) => { change({ lead }) }} error={shown.lead} />
          <ModelField label={t.newTask.coderModel} hint={t.newTask.coderHint} views={views} value={draft.coder} onChange={(coder) => { change({ coder }) }} error={shown.coder} />
        </div>
      </Section>
      <Section title={t.newTask.may}>
        <GrantFields value={draft.grant} onChange={(grant) => { change({ grant }) }} />
        <RuntimeField value={draft.runtime} onChange={(runtime) => { change({ runtime }) }} error={runtimeProblem(draft.runtime, draft.grant)} />
      </Section>
      <Section title={t.newTask.budget}>
        <BudgetFields value={draft.budget} onChange={(budget) => { change({ budget }) }} foldKey="new task budget" />
      </Section>
    </>
  )
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <fieldset className="form-section">
      <legend className="form-legend">{title}</legend>
      {children}
    </fieldset>
  )
}
