import type { Meta, StoryObj } from '@storybook/react-vite'
import { FileDiff } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import { Banners } from '../../features/banners.tsx'
import { FirstRun } from '../../features/room/first-run.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Guard } from '../../ui/guard.tsx'
import { Empty, FailureNotice, Loading, Notice } from '../../ui/notice.tsx'
import { say, Toasts } from '../../ui/toasts.tsx'

const meta: Meta = { title: 'Elements/States, notices, dialogs' }
export default meta

const failure: Failure = { code: 'provider-unreachable', message: 'The provider at https://api.example.com did not answer.', todo: 'Check the base URL in Settings, then start a revision of this task.' }
const nothing = (): void => undefined

export const EmptyPlace: StoryObj = { render: () => <div className="story"><Empty icon={FileDiff} title="Nothing to review yet">A result appears here when both bots are done.</Empty></div> }

export const LoadingPlace: StoryObj = {
  render: () => <div className="story"><Loading label="Reading the journal…" /></div>,
  play: async ({ canvas }) => { await canvas.findByText('Reading the journal…') },
}

export const ErrorPlace: StoryObj = { render: () => <div className="story"><FailureNotice failure={failure} onRetry={nothing} /><FailureNotice failure={failure} title="The room could not be read" onRetry={nothing} /></div> }

export const DonePlace: StoryObj = { render: () => <div className="story"><Notice tone="good" title="Applied">3 files changed in your folder.</Notice></div> }

export const Notices: StoryObj = {
  render: () => (
    <div className="story">
      {(['info', 'warn', 'bad', 'good'] as const).map((tone) => <Notice key={tone} tone={tone} title={`A notice, ${tone}`} actions={<Button size="small">Do it</Button>}>What happened, and what to do about it.</Notice>)}
      <Notice tone="warn" title={`Long: ${'packages/deeply/nested/component.tsx, '.repeat(9)}`} actions={<Button size="small">Open Settings</Button>}>{'Word'.repeat(90)}</Notice>
    </div>
  ),
}

export const BannersOverAll: StoryObj = {
  parameters: { scene: { flags: ['scripted', 'problems'] } },
  render: () => <Banners />,
  play: async ({ canvas }) => { await canvas.findByRole('alert') },
}

export const Toast: StoryObj = {
  render: () => <Toasts />,
  play: async ({ canvas }) => {
    say({ tone: 'bad', text: 'It did not work.', detail: 'Try again, or look into the audit log.' })
    await canvas.findByText('It did not work.')
  },
}

function Broken(): ReactNode {
  throw new Error('a story that breaks')
}

export const Crashed: StoryObj = { tags: ['breaks'], render: () => <Guard><Broken /></Guard> }

export const FirstStart: StoryObj = { render: () => <FirstRun /> }

export const DialogOver: StoryObj = {
  render: () => (
    <ConfirmDialog title="Reject this result?" hint="The task ends as cancelled." confirm="Reject result" act={{ isPending: false, isError: false, error: null }} onClose={nothing} onConfirm={nothing}>
      <TextField label="Why" lines={3} value="The price list belongs into the configuration." onChange={nothing} />
    </ConfirmDialog>
  ),
}

export const DialogLong: StoryObj = { render: () => <Dialog title={`A title that is ${'much '.repeat(20)}too long`} onClose={nothing} wide><p>{'Many words. '.repeat(200)}</p></Dialog> }
