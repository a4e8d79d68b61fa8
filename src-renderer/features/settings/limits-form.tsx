import { useState, type ReactNode } from 'react'
import { Form } from 'react-aria-components'
import { defaultSandboxLimits } from '../../../src-preload/contract/limits.ts'
import type { Settings } from '../../../src-preload/contract/settings.ts'
import type { SandboxLimits } from '../../../src-preload/contract/task.ts'
import { t } from '../../i18n/text.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields.tsx'
import { FailureNotice } from '../../ui/notice.tsx'
import { limitNames, limitProblems, limitRange, limitsDraft, limitsOf } from './limits-draft.ts'
import { useSave } from './use-save.ts'

/** What the owner lets a sandbox use on this machine. */
export function LimitsForm({ settings, machineBytes }: { readonly settings: Settings; readonly machineBytes: number }): ReactNode {
  const words = t.isolation.own
  const now = settings.sandboxLimits
  const [draft, setDraft] = useState(() => limitsDraft(now))
  const { save, failure, isPending, saved } = useSave()
  const problems = limitProblems(draft, now, machineBytes)
  const isChanged = limitNames.some((name) => draft[name].trim() !== limitsDraft(now)[name])
  const put = (limits: SandboxLimits): void => {
    setDraft(limitsDraft(limits))
    save({ ...settings, sandboxLimits: limits })
  }
  const field = (name: keyof SandboxLimits): ReactNode => {
    const { min, max } = limitRange(name, machineBytes)
    return <TextField label={words[name].label} hint={words[name].hint({ min: String(min), max: String(max) })} value={draft[name]} onChange={(value) => { setDraft((typed) => ({ ...typed, [name]: value })) }} error={problems[name]} inputMode="numeric" mono />
  }
  return (
    <Form
      className="form"
      validationBehavior="aria"
      onSubmit={(event) => {
        event.preventDefault()
        if (Object.keys(problems).length === 0) put(limitsOf(draft))
      }}
    >
      <div className="field-pair">
        {field('memoryBytesMax')}
        {field('processesMax')}
      </div>
      <div className="field-pair">
        {field('commandCpuMsMax')}
        {field('fileBytesMax')}
      </div>
      {failure === null ? null : <FailureNotice failure={failure} />}
      <div className="line">
        <Button type="submit" isPending={isPending} isDisabled={!isChanged || Object.keys(problems).length > 0}>
          {t.word.save}
        </Button>
        {limitNames.every((name) => now[name] === defaultSandboxLimits[name]) ? null : (
          <Button variant="plain" onPress={() => { put(defaultSandboxLimits) }}>
            {words.useDefaults}
          </Button>
        )}
        {saved && !isPending && !isChanged ? <span className="quiet small" role="status">{words.saved}</span> : null}
      </div>
    </Form>
  )
}
