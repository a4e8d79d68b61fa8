import { Check, ChevronsUpDown } from 'lucide-react'
import type { ReactNode } from 'react'
import {
  Button as AriaButton, CheckboxButton, CheckboxField, FieldError, Header, Input, Label, ListBox, ListBoxItem, ListBoxSection, NumberField as AriaNumberField, Popover, RadioButton, RadioField, RadioGroup, Select as AriaSelect, SelectValue, SwitchButton, SwitchField, Text,
  TextArea, TextField as AriaTextField, ToggleButton, ToggleButtonGroup, type Key,
} from 'react-aria-components'

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  /** Why the value cannot be used; undefined when it can. */
  readonly error?: string | undefined
  readonly isDisabled?: boolean
}

interface TextFieldProps extends FieldProps {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly placeholder?: string
  readonly lines?: number
  readonly mono?: boolean
  readonly type?: 'text' | 'password' | 'url'
  readonly maxLength?: number
  readonly inputMode?: 'numeric' | 'decimal'
  readonly autoFocus?: boolean
  readonly name?: string
  readonly onBlur?: () => void
}

/** One line of text, or several with `lines`. */
export function TextField({ label, hint, error, lines, mono = false, placeholder, ...rest }: TextFieldProps): ReactNode {
  const inputClass = `input${mono ? ' input-mono' : ''}`
  return (
    <AriaTextField className="field" isInvalid={error !== undefined} validationBehavior="aria" spellCheck={mono ? 'false' : 'true'} autoComplete="off" {...rest}>
      <Label className="field-label">{label}</Label>
      {lines === undefined ? <Input className={inputClass} placeholder={placeholder ?? ''} /> : <TextArea className={inputClass} rows={lines} placeholder={placeholder ?? ''} />}
      {hint === undefined ? null : (
        <Text slot="description" className="field-hint">
          {hint}
        </Text>
      )}
      <FieldError className="field-error">{error}</FieldError>
    </AriaTextField>
  )
}

/** A whole number with its unit in the label. */
export function NumberField({ label, hint, error, value, onChange, min, max, step = 1, isDisabled = false }: FieldProps & { readonly value: number; readonly onChange: (value: number) => void; readonly min: number; readonly max: number; readonly step?: number }): ReactNode {
  return (
    <AriaNumberField className="field" value={value} onChange={onChange} minValue={min} maxValue={max} step={step} isInvalid={error !== undefined} validationBehavior="aria" isDisabled={isDisabled}>
      <Label className="field-label">{label}</Label>
      <Input className="input" />
      {hint === undefined ? null : (
        <Text slot="description" className="field-hint">
          {hint}
        </Text>
      )}
      <FieldError className="field-error">{error}</FieldError>
    </AriaNumberField>
  )
}

interface Option {
  readonly id: string
  readonly label: string
  readonly note?: string
}

export interface OptionGroup {
  readonly label: string
  readonly options: readonly Option[]
}

/** One of several, from a list that opens. Groups are shown with their name. */
export function Select({ label, hint, error, value, onChange, groups, placeholder, isDisabled = false }: FieldProps & { readonly value: string | null; readonly onChange: (id: string) => void; readonly groups: readonly OptionGroup[]; readonly placeholder?: string }): ReactNode {
  return (
    <AriaSelect
      className="field"
      value={value}
      onChange={(key: Key | null) => {
        if (typeof key === 'string') onChange(key)
      }}
      placeholder={placeholder ?? ''}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      isDisabled={isDisabled}
    >
      <Label className="field-label">{label}</Label>
      <AriaButton className="select-button">
        <SelectValue className="select-value">{({ selectedText, defaultChildren, isPlaceholder }) => (isPlaceholder ? defaultChildren : selectedText)}</SelectValue>
        <ChevronsUpDown className="icon icon-small" aria-hidden />
      </AriaButton>
      {hint === undefined ? null : (
        <Text slot="description" className="field-hint">
          {hint}
        </Text>
      )}
      <FieldError className="field-error">{error}</FieldError>
      <Popover className="popover">
        <ListBox>
          {groups.map((group) => (
            <ListBoxSection key={group.label} id={group.label}>
              <Header className="option-group">{group.label}</Header>
              {group.options.map((option) => (
                <ListBoxItem key={option.id} id={option.id} textValue={option.label} className="option">
                  <span className="grow clip">{option.label}</span>
                  {option.note === undefined ? null : <span className="quiet small">{option.note}</span>}
                  <Check className="icon icon-small option-check" aria-hidden />
                </ListBoxItem>
              ))}
            </ListBoxSection>
          ))}
        </ListBox>
      </Popover>
    </AriaSelect>
  )
}

function Hint({ children }: { readonly children: ReactNode }): ReactNode {
  if (children === undefined) return null
  return (
    <Text slot="description" className="field-hint choice-hint">
      {children}
    </Text>
  )
}

/** Yes or no, with an explanation under it. */
export function Checkbox({ label, hint, value, onChange, isDisabled = false }: { readonly label: ReactNode; readonly hint?: ReactNode; readonly value: boolean; readonly onChange: (value: boolean) => void; readonly isDisabled?: boolean }): ReactNode {
  return (
    <CheckboxField isSelected={value} onChange={onChange} isDisabled={isDisabled}>
      <CheckboxButton className="checkbox">
        <span className="box" aria-hidden>
          <Check className="icon" />
        </span>
        <span className="grow">{label}</span>
      </CheckboxButton>
      <Hint>{hint}</Hint>
    </CheckboxField>
  )
}

/** On or off, at once. */
export function Switch({ label, hint, value, onChange, isDisabled = false }: { readonly label: string; readonly hint?: ReactNode; readonly value: boolean; readonly onChange: (value: boolean) => void; readonly isDisabled?: boolean }): ReactNode {
  return (
    <SwitchField className="switch-field" isSelected={value} onChange={onChange} isDisabled={isDisabled}>
      <SwitchButton className="switch">
        <span className="switch-track" aria-hidden />
        <span className="grow">{label}</span>
      </SwitchButton>
      <Hint>{hint}</Hint>
    </SwitchField>
  )
}

/** One of a few, all in view, each explained. */
export function Choice<T extends string>({ label, value, onChange, options, isDisabled = false }: { readonly label: string; readonly value: T; readonly onChange: (value: T) => void; readonly options: readonly { readonly id: T; readonly label: string; readonly hint?: string }[]; readonly isDisabled?: boolean }): ReactNode {
  return (
    <RadioGroup className="field" value={value} onChange={(next) => { onChange(next as T) }} isDisabled={isDisabled}>
      <Label className="field-label">{label}</Label>
      {options.map((option) => (
        <RadioField key={option.id} value={option.id}>
          <RadioButton className="radio">
            <span className="box" aria-hidden />
            <span className="grow">{option.label}</span>
          </RadioButton>
          <Hint>{option.hint}</Hint>
        </RadioField>
      ))}
    </RadioGroup>
  )
}

/** One of a few, side by side. */
export function Segments<T extends string>({ label, value, onChange, options }: { readonly label: string; readonly value: T; readonly onChange: (value: T) => void; readonly options: readonly { readonly id: T; readonly label: string }[] }): ReactNode {
  return (
    <ToggleButtonGroup
      className="segments"
      aria-label={label}
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[value]}
      onSelectionChange={(keys) => {
        const next = [...keys][0]
        if (typeof next === 'string') onChange(next as T)
      }}
    >
      {options.map((option) => (
        <ToggleButton key={option.id} id={option.id} className="segment">
          {option.label}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  )
}
