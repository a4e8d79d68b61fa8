import type { QueryClient } from '@tanstack/react-query'
import type { TaskRow } from '../../../src-preload/contract/rows.ts'
import type { Settings } from '../../../src-preload/contract/settings.ts'
import { call, newCommandId } from '../../bridge.ts'
import { t } from '../../i18n/text.ts'
import type { RowStore } from '../../store/row-store.ts'
import { changeUi, settingsSections, show, showTask, uiState, type SettingsSection } from '../../store/ui-store.ts'
import type { Chord } from '../../ui/keys.ts'
import { say } from '../../ui/toasts.tsx'
import type { ApprovalDesk } from '../approvals/desk.ts'
import { jumpToLatest } from '../room/jump.ts'
import { isUnfinished } from '../room/status-glyph.tsx'

/** What a command works on. */
export interface CommandContext {
  readonly rows: RowStore
  readonly desk: ApprovalDesk
  readonly queries: QueryClient
}

export type CommandGroup = 'go' | 'task' | 'approvals' | 'view'

/** One thing that the window can do. The id is stable: the application menu names it. */
export interface Command {
  readonly id: string
  readonly group: CommandGroup
  readonly title: () => string
  readonly chord?: Chord
  /** Whether it makes sense now; absent means always. */
  readonly when?: (context: CommandContext) => boolean
  readonly run: (context: CommandContext) => void
  /** True where the key also works while somebody types. */
  readonly whileTyping?: boolean
}

/** The task on screen. */
function shownTask({ rows }: Pick<CommandContext, 'rows'>): TaskRow | undefined {
  const { taskId } = uiState()
  return taskId === null ? undefined : rows.task(`task:${taskId}`)
}

function step({ rows }: CommandContext, by: 1 | -1): void {
  const keys = rows.taskKeys()
  const at = keys.indexOf(`task:${uiState().taskId ?? ''}`)
  const next = rows.task(keys[Math.min(keys.length - 1, Math.max(0, at + by))] ?? '')
  if (next !== undefined) showTask(next.taskId)
}

async function stopTask(context: CommandContext): Promise<void> {
  const task = shownTask(context)
  if (task === undefined) return
  const result = await call('task.stop', { commandId: newCommandId(), taskId: task.taskId })
  if (!result.ok) say({ tone: 'bad', text: result.error.message, detail: result.error.todo })
}

async function runSample(): Promise<void> {
  const result = await call('task.runSample', { commandId: newCommandId() })
  if (result.ok) showTask(result.value.taskId)
  else say({ tone: 'bad', text: result.error.message, detail: result.error.todo })
}

async function exportAudit(): Promise<void> {
  const result = await call('audit.export', { taskId: null })
  if (!result.ok) say({ tone: 'bad', text: result.error.message, detail: result.error.todo })
  else if (result.value.path !== null) say({ tone: 'good', text: t.audit.exported, detail: result.value.path })
}

async function switchTheme({ queries }: CommandContext): Promise<void> {
  const settings = await call('settings.get', {})
  if (!settings.ok) return
  const dark = window.matchMedia('(prefers-color-scheme: dark)').matches
  const now = settings.value.appearance.theme === 'system' ? (dark ? 'dark' : 'light') : settings.value.appearance.theme
  const next: Settings = { ...settings.value, appearance: { ...settings.value.appearance, theme: now === 'dark' ? 'light' : 'dark' } }
  queries.setQueryData(['settings.get', {}], next)
  const result = await call('settings.put', next)
  if (!result.ok) say({ tone: 'bad', text: result.error.message, detail: result.error.todo })
}

function focusFilter(): void {
  const input = document.getElementById('task-filter')
  if (input instanceof HTMLInputElement) {
    input.focus()
    input.select()
  }
}

const hasTask = (context: CommandContext): boolean => shownTask(context) !== undefined
const inRoom = (): boolean => uiState().screen.at === 'room'
const hasFront = ({ desk }: CommandContext): boolean => desk.snapshot().frontKey !== null

/** Every action of the window, in the order of the palette. */
export const commands: readonly Command[] = [
  { id: 'task.new', group: 'task', title: () => t.palette.newTask, chord: 'mod+n', whileTyping: true, run: () => { show({ at: 'new-task' }) } },
  { id: 'task.run-sample', group: 'task', title: () => t.palette.runSample, run: () => { void runSample() } },
  { id: 'task.stop', group: 'task', title: () => t.palette.stop, chord: 'mod+.', when: (context) => { const task = shownTask(context); return task !== undefined && isUnfinished(task.status) && task.cancel === null }, run: (context) => { void stopTask(context) } },
  { id: 'task.previous', group: 'task', title: () => t.palette.previous, chord: 'alt+arrowup', whileTyping: true, when: hasTask, run: (context) => { step(context, -1) } },
  { id: 'task.next', group: 'task', title: () => t.palette.next, chord: 'alt+arrowdown', whileTyping: true, when: hasTask, run: (context) => { step(context, 1) } },
  { id: 'approval.approve', group: 'approvals', title: () => t.palette.approve, chord: 'mod+enter', when: (context) => inRoom() && hasFront(context), run: ({ desk }) => { desk.chord('approved', false) } },
  { id: 'approval.deny', group: 'approvals', title: () => t.palette.deny, chord: 'mod+shift+enter', when: (context) => inRoom() && hasFront(context), run: ({ desk }) => { desk.chord('denied', false) } },
  { id: 'go.room', group: 'go', title: () => t.palette.toRoom, chord: 'mod+1', whileTyping: true, run: () => { show({ at: 'room' }) } },
  { id: 'go.review', group: 'go', title: () => t.palette.toReview, chord: 'mod+2', whileTyping: true, when: (context) => { const task = shownTask(context); return task?.result != null }, run: () => { show({ at: 'review' }) } },
  { id: 'go.audit', group: 'go', title: () => t.palette.toAudit, chord: 'mod+3', whileTyping: true, run: () => { show({ at: 'audit' }) } },
  { id: 'go.settings', group: 'go', title: () => t.palette.toSettings, chord: 'mod+,', whileTyping: true, run: () => { show({ at: 'settings', section: 'providers' }) } },
  ...settingsSections.map((section: SettingsSection): Command => ({ id: `go.settings.${section}`, group: 'go', title: () => t.palette.section({ name: t.settings.sections[section] }), run: () => { show({ at: 'settings', section }) } })),
  { id: 'audit.export', group: 'go', title: () => t.palette.export, run: () => { void exportAudit() } },
  { id: 'view.palette', group: 'view', title: () => t.palette.open, chord: 'mod+k', whileTyping: true, run: () => { changeUi({ paletteOpen: !uiState().paletteOpen }) } },
  { id: 'view.filter', group: 'view', title: () => t.palette.filter, chord: 'mod+shift+f', whileTyping: true, run: focusFilter },
  { id: 'view.inspector', group: 'view', title: () => t.palette.inspector, chord: 'mod+i', when: inRoom, run: () => { changeUi({ inspector: document.querySelector('.inspector') === null ? 'open' : 'closed' }) } },
  { id: 'view.latest', group: 'view', title: () => t.palette.latest, chord: 'mod+end', when: inRoom, run: () => { jumpToLatest() } },
  { id: 'view.theme', group: 'view', title: () => t.palette.theme, run: (context) => { void switchTheme(context) } },
]

/** What the application menu calls some of them. */
const menuNames: Readonly<Record<string, string>> = { 'run-sample': 'task.run-sample', 'new-task': 'task.new', palette: 'view.palette', settings: 'go.settings', audit: 'go.audit' }

/** Runs a command by id or by its name in the menu, if there is one and it makes sense now. True when it ran. */
export function runCommand(id: string, context: CommandContext): boolean {
  const command = commands.find((one) => one.id === (menuNames[id] ?? id))
  if (command === undefined || command.when?.(context) === false) return false
  command.run(context)
  return true
}
