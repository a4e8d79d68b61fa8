import { Search } from 'lucide-react'
import { useEffect, useMemo, useState, type ReactNode } from 'react'
import { Autocomplete, Dialog, Header, Input, Menu, MenuItem, MenuSection, Modal, ModalOverlay, SearchField, useFilter } from 'react-aria-components'
import { t } from '../../i18n/text.ts'
import { useTaskKeys } from '../../store/hooks.ts'
import { changeUi, showTask, useUi } from '../../store/ui-store.ts'
import { Keys } from '../../ui/button.tsx'
import { StatusGlyph } from '../room/status-glyph.tsx'
import { commands, type CommandContext, type CommandGroup } from './commands.ts'
import { paletteTyped } from './typed-ahead.ts'
import { useCommandContext } from './use-commands.ts'

const groups: readonly CommandGroup[] = ['task', 'approvals', 'go', 'view']
const tasksMax = 30

/** Every action with its key, and every task by name. */
export function Palette(): ReactNode {
  const open = useUi((ui) => ui.paletteOpen)
  return (
    <ModalOverlay className="veil veil-top" isOpen={open} isDismissable onOpenChange={(next) => { changeUi({ paletteOpen: next }) }}>
      <Modal className="dialog-frame palette-frame">
        <Dialog className="palette" aria-label={t.palette.title}>
          <PaletteList />
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}

function PaletteList(): ReactNode {
  const context = useCommandContext()
  const { contains } = useFilter({ sensitivity: 'base' })
  const taskKeys = useTaskKeys()
  const available = useMemo(() => commands.filter((command) => command.id !== 'view.palette' && command.when?.(context) !== false), [context])
  const [typed, setTyped] = useState(() => paletteTyped.text)
  useEffect(() => paletteTyped.follow(setTyped), [])
  const run = (key: string): void => {
    changeUi({ paletteOpen: false })
    // After the palette has gone and the focus is back, so that a command finds the window as it was.
    requestAnimationFrame(() => {
      runEntry(key, context)
    })
  }
  return (
    <Autocomplete inputValue={typed} onInputChange={setTyped} filter={(text, input) => input.split(/\s+/).every((word) => contains(text, word))}>
      <SearchField className="palette-search" aria-label={t.palette.placeholder} autoFocus>
        <Search className="icon quiet" aria-hidden />
        <Input className="palette-input" placeholder={t.palette.placeholder} />
      </SearchField>
      <div className="palette-scroll" tabIndex={0}>
      <Menu className="palette-list" aria-label={t.palette.title} onAction={(key) => { run(String(key)) }} renderEmptyState={() => <div className="palette-empty quiet">{t.palette.nothing}</div>}>
        {groups.map((group) => (
          <MenuSection key={group}>
            <Header className="option-group">{t.palette.keyGroups[group]}</Header>
            {available
              .filter((command) => command.group === group)
              .map((command) => (
                <MenuItem key={command.id} id={command.id} textValue={command.title()} className="option">
                  <span className="grow">{command.title()}</span>
                  {command.chord === undefined ? null : <Keys chord={command.chord} />}
                </MenuItem>
              ))}
          </MenuSection>
        ))}
        <MenuSection>
          <Header className="option-group">{t.palette.keyGroups.tasks}</Header>
          {taskKeys.slice(0, tasksMax).map((key) => {
            const task = context.rows.task(key)
            return task === undefined ? null : (
              <MenuItem key={key} id={key} textValue={task.title} className="option">
                <StatusGlyph task={task} />
                <span className="grow clip">{task.title}</span>
              </MenuItem>
            )
          })}
        </MenuSection>
      </Menu>
      </div>
    </Autocomplete>
  )
}

function runEntry(key: string, context: CommandContext): void {
  const task = context.rows.task(key)
  if (task !== undefined) showTask(task.taskId)
  else commands.find((command) => command.id === key)?.run(context)
}
