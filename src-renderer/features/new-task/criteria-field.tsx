import { Plus, X } from 'lucide-react'
import { useRef, type ReactNode } from 'react'
import { Input, TextField } from 'react-aria-components'
import { t } from '../../i18n/text.ts'
import { Button, IconButton } from '../../ui/button.tsx'

const criteriaMax = 20

/** Acceptance criteria, one a line. Enter opens the next line, Backspace in an empty one removes it. */
export function CriteriaField({ value, onChange, error }: { readonly value: readonly string[]; readonly onChange: (value: readonly string[]) => void; readonly error: string | undefined }): ReactNode {
  const list = useRef<HTMLOListElement>(null)
  const focus = (index: number): void => {
    requestAnimationFrame(() => {
      list.current?.querySelectorAll('input')[index]?.focus()
    })
  }
  const add = (after: number): void => {
    if (value.length >= criteriaMax) return
    onChange([...value.slice(0, after + 1), '', ...value.slice(after + 1)])
    focus(after + 1)
  }
  const remove = (index: number): void => {
    onChange(value.length === 1 ? [''] : value.filter((_, at) => at !== index))
    focus(Math.max(0, index - 1))
  }
  return (
    <div className="field" role="group" aria-label={t.newTask.criteria}>
      <span className="field-label" aria-hidden>
        {t.newTask.criteria}
      </span>
      <ol ref={list} className="criteria-list">
        {value.map((criterion, index) => (
          <li key={index} className="criterion">
            <TextField className="grow" aria-label={t.newTask.criterion({ n: index + 1 })} value={criterion} maxLength={1_000} onChange={(text) => { onChange(value.map((old, at) => (at === index ? text : old))) }}>
              <Input
                className="input"
                placeholder={index === 0 ? t.newTask.criterionExample : ''}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
                    event.preventDefault()
                    add(index)
                  }
                  if (event.key === 'Backspace' && criterion === '' && value.length > 1) {
                    event.preventDefault()
                    remove(index)
                  }
                }}
              />
            </TextField>
            <IconButton label={t.newTask.removeCriterion({ n: index + 1 })} icon={X} size="small" isDisabled={value.length === 1 && criterion === ''} onPress={() => { remove(index) }} />
          </li>
        ))}
      </ol>
      <div className="line">
        <Button size="small" variant="plain" icon={Plus} isDisabled={value.length >= criteriaMax} onPress={() => { add(value.length - 1) }}>
          {t.newTask.addCriterion}
        </Button>
        <span className="field-hint">{t.newTask.criteriaWhy}</span>
      </div>
      {error === undefined ? null : <span className="field-error">{error}</span>}
    </div>
  )
}
