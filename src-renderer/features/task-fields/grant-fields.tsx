import type { ReactNode } from 'react'
import type { TaskGrant } from '../../../src-preload/contract/task.ts'
import { t } from '../../i18n/text.ts'
import { Segments } from '../../ui/fields.tsx'

const all = ['allow', 'ask', 'deny'] as const
const strict = ['ask', 'deny'] as const

/** What Bot B may do without asking; never more than its sandbox lets it. */
export function GrantFields({ value, onChange }: { readonly value: TaskGrant; readonly onChange: (value: TaskGrant) => void }): ReactNode {
  return (
    <div className="grant">
      <Line label={t.grant.edits} hint={t.grant.editsHint}>
        <Segments label={t.grant.edits} value={value.edits} onChange={(edits) => { onChange({ ...value, edits }) }} options={all.map((id) => ({ id, label: t.grant.values[id] }))} />
      </Line>
      <Line label={t.grant.testCommand} hint={t.grant.testHint}>
        <Segments label={t.grant.testCommand} value={value.testCommand} onChange={(testCommand) => { onChange({ ...value, testCommand }) }} options={all.map((id) => ({ id, label: t.grant.values[id] }))} />
      </Line>
      <Line label={t.grant.otherCommands} hint={t.grant.otherHint}>
        <Segments label={t.grant.otherCommands} value={value.otherCommands} onChange={(otherCommands) => { onChange({ ...value, otherCommands }) }} options={strict.map((id) => ({ id, label: t.grant.values[id] }))} />
      </Line>
    </div>
  )
}

function Line({ label, hint, children }: { readonly label: string; readonly hint: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="grant-line">
      <div className="grow">
        <div>{label}</div>
        <div className="field-hint">{hint}</div>
      </div>
      {children}
    </div>
  )
}
