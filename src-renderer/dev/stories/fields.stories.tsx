import type { Meta, StoryObj } from '@storybook/react-vite'
import { useState, type ReactNode } from 'react'
import { Checkbox, Choice, NumberField, Segments, Select, Switch, TextField } from '../../ui/fields.tsx'

const meta: Meta = { title: 'Elements/Fields' }
export default meta

const models = [{ label: 'Demo (offline)', options: [{ id: 'demo-1', label: 'Demo model' }] }, { label: 'Example', options: [{ id: 'large', label: 'example-large-2026-09', note: '200,000 tokens' }, { id: 'long', label: `models/${'very-long-model-name-'.repeat(6)}` }] }]

/** A field that keeps what is put into it. */
function Kept<T>({ first, children }: { readonly first: T; readonly children: (value: T, change: (value: T) => void) => ReactNode }): ReactNode {
  const [value, change] = useState(first)
  return children(value, change)
}

export const Text: StoryObj = {
  render: () => (
    <div className="story">
      <Kept first="">{(value, onChange) => <TextField label="Title" placeholder="What is it about?" value={value} onChange={onChange} hint="Shown in the list of tasks." />}</Kept>
      <Kept first="/home/me/src/upload-client">{(value, onChange) => <TextField label="Folder" mono value={value} onChange={onChange} />}</Kept>
      <Kept first="three">{(value, onChange) => <TextField label="Turns" value={value} onChange={onChange} error="Turns are a whole number from 5 to 64." />}</Kept>
      <Kept first="secret">{(value, onChange) => <TextField label="Key" type="password" value={value} onChange={onChange} />}</Kept>
      <Kept first={'Orders between 20 and 50 euros pay 4.90.\nOrders over 100 euros ship free.'}>{(value, onChange) => <TextField label="Requirement" lines={4} value={value} onChange={onChange} />}</Kept>
      <TextField label="Cannot be changed" isDisabled value="as it is" onChange={() => undefined} />
      <Kept first={20}>{(value, onChange) => <NumberField label="Deadline, minutes" value={value} onChange={onChange} min={1} max={240} hint="From the first turn on." />}</Kept>
    </div>
  ),
}

export const Choices: StoryObj = {
  render: () => (
    <div className="story">
      <Kept first={true}>{(value, onChange) => <Checkbox label="Copy node_modules, 214 MB" hint="Read only." value={value} onChange={onChange} />}</Kept>
      <Checkbox label="Cannot be chosen" value={false} onChange={() => undefined} isDisabled />
      <Kept first={true}>{(value, onChange) => <Switch label="Open at login" hint="Off unless you turn it on." value={value} onChange={onChange} />}</Kept>
      <Switch label="Not on this system" value={false} onChange={() => undefined} isDisabled />
      <Kept first="ask">{(value, onChange) => <Choice label="Other commands" value={value} onChange={onChange} options={[{ id: 'ask', label: 'Ask', hint: 'Each waits for your approval.' }, { id: 'deny', label: 'Deny' }]} />}</Kept>
      <Kept first="unified">{(value, onChange) => <Segments label="Layout of the diff" value={value} onChange={onChange} options={[{ id: 'unified', label: 'Unified' }, { id: 'split', label: 'Split' }]} />}</Kept>
    </div>
  ),
}

export const List: StoryObj = {
  render: () => (
    <div className="story">
      <Kept<string | null> first={null}>{(value, onChange) => <Select label="Model of Bot A" placeholder="Choose a model" value={value} onChange={onChange} groups={models} hint="It writes the brief." />}</Kept>
      <Kept<string | null> first="long">{(value, onChange) => <Select label="Model of Bot B" value={value} onChange={onChange} groups={models} error="This model has no key." />}</Kept>
      <Select label="Cannot be chosen" value="demo-1" onChange={() => undefined} groups={models} isDisabled />
    </div>
  ),
}

export const ListOpen: StoryObj = {
  render: () => (
    <div className="story">
      <Kept<string | null> first="large">{(value, onChange) => <Select label="Model" value={value} onChange={onChange} groups={models} />}</Kept>
    </div>
  ),
  play: async ({ canvas, userEvent }) => { await userEvent.click(await canvas.findByRole('button')) },
}

export const Narrow: StoryObj = {
  render: () => (
    <div className="story story-narrow">
      <Kept first="">{(value, onChange) => <TextField label="A label that goes on for longer than the field under it is wide" value={value} onChange={onChange} hint="A hint with a word without end: Donaudampfschifffahrtsgesellschaftskapitän" error={`Not usable: ${'https://a-very-long-host.example/'.repeat(3)}`} />}</Kept>
      <Kept first={false}>{(value, onChange) => <Checkbox label="A choice that somebody described in more words than anybody would ever want to read in one line" value={value} onChange={onChange} />}</Kept>
    </div>
  ),
}
