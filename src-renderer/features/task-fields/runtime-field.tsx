import type { ReactNode } from 'react'
import { coderRuntimeSchema, type CoderRuntime, type TaskGrant } from '../../../src-preload/contract/task.ts'
import { t } from '../../i18n/text.ts'
import { Choice } from '../../ui/fields.tsx'

/** Why a grant cannot be kept on this runtime, in words; undefined when it can. */
export function runtimeProblem(runtime: CoderRuntime, grant: TaskGrant): string | undefined {
  return runtime === 'opencode-run' && grant.edits === 'ask' ? t.runtime.cannotAsk : undefined
}

/** How Bot B's OpenCode is driven. */
export function RuntimeField({ value, onChange, error }: { readonly value: CoderRuntime; readonly onChange: (value: CoderRuntime) => void; readonly error: string | undefined }): ReactNode {
  return (
    <div className="stack-tight">
      <Choice label={t.runtime.label} value={value} onChange={onChange} options={coderRuntimeSchema.options.map((id) => ({ id, label: t.runtime.names[id], hint: t.runtime.hints[id] }))} />
      {error === undefined ? null : <div className="field-error" role="alert">{error}</div>}
    </div>
  )
}
