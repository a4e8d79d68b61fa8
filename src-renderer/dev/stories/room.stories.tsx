import type { Meta, StoryObj } from '@storybook/react-vite'
import type { ReactNode } from 'react'
import { ApprovalTray } from '../../features/approvals/tray.tsx'
import { Palette } from '../../features/palette/palette.tsx'
import { Inspector } from '../../features/room/inspector.tsx'
import { TaskHeader } from '../../features/room/task-header.tsx'
import { TaskList } from '../../features/room/task-list.tsx'
import { ReviewScreen } from '../../features/review/review-screen.tsx'
import { useTaskById } from '../../store/hooks.ts'
import { scenes } from '../scenes.ts'
import type { Scene } from '../storybook/stage.tsx'

const meta: Meta = { title: 'Room/Cards and panels' }
export default meta

const scene = (name: string, more: Partial<Scene> = {}): { scene: Scene } => ({ scene: { rows: () => scenes[name]?.() ?? [], ...more } })

const card = (name: string): StoryObj => ({
  parameters: scene(name),
  render: () => <ApprovalTray compact={false} />,
  play: async ({ canvas }) => { await canvas.findByRole('button', { name: /^(Approve|Raise)/ }) },
})

export const CommandCard = card('hold')
export const CardsInALine = card('holds')
export const EditCard = card('edit')
export const BriefCard = card('brief')
export const BudgetCard = card('budget')
export const ProviderCard = card('others')

export const CardWithGrants: StoryObj = {
  ...card('hold'),
  play: async ({ canvas, userEvent }) => { await userEvent.click(await canvas.findByRole('button', { name: 'Allow again…' })) },
}

export const CompactCards: StoryObj = { parameters: scene('holds'), render: () => <ApprovalTray compact />, play: async ({ canvas }) => { await canvas.findByRole('region') } }

export const ResultCard: StoryObj = { parameters: scene('ready'), render: () => <ApprovalTray compact={false} />, play: async ({ canvas }) => { await canvas.findByRole('region', { name: /Result/ }) } }

function Shown({ children }: { readonly children: (task: NonNullable<ReturnType<typeof useTaskById>>) => ReactNode }): ReactNode {
  const task = useTaskById('task-1')
  return task === undefined ? null : children(task)
}

const header = (name: string): StoryObj => ({
  parameters: scene(name),
  render: () => <main><Shown>{(task) => <TaskHeader task={task} />}</Shown></main>,
  play: async ({ canvas }) => { await canvas.findByRole('heading', { level: 1 }) },
})

export const HeaderWorking = header('live')
export const HeaderBlocked = header('hold')
export const HeaderStopping = header('stopping')
export const HeaderTrouble = header('trouble')
export const HeaderChangedResult = header('changed')
export const HeaderAccepted = header('accepted')
export const HeaderLong = header('long')

const inspector = (name: string): StoryObj => ({
  parameters: scene(name),
  render: () => <div className="story-window"><Shown>{(task) => <Inspector task={task} />}</Shown></div>,
  play: async ({ canvas }) => { await canvas.findByRole('complementary') },
})

export const InspectorPanel = inspector('edit')
export const InspectorLong = inspector('long')

export const Tasks: StoryObj = { parameters: scene('live'), render: () => <div className="story-narrow"><TaskList /></div>, play: async ({ canvas }) => { await canvas.findByText('Fix the flaky clock test') } }

export const CommandPalette: StoryObj = { parameters: scene('live', { ui: { paletteOpen: true } }), render: () => <Palette /> }

const review = (flags: readonly string[] = []): StoryObj => ({
  parameters: scene('ready', { flags, ui: { screen: { at: 'review' } } }),
  render: () => <main className="story-window"><ReviewScreen /></main>,
  play: async ({ canvas }) => { await canvas.findByRole('button', { name: 'Accept result' }) },
})

export const Diff = review(['notes'])
export const DiffUnverified = review(['unverified'])
export const DiffEmpty = review(['no-change'])
export const DiffFails: StoryObj = { ...review(['fail-review.get']), play: async ({ canvas }) => { await canvas.findByRole('alert') } }
