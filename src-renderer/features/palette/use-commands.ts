import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { useRoom } from '../../store/hooks.ts'
import { isChord, isTyping, onMac } from '../../ui/keys.ts'
import { useDesk } from '../approvals/desk.ts'
import { commands, type CommandContext } from './commands.ts'

/** What commands work on, stable over the window's life. */
export function useCommandContext(): CommandContext {
  const room = useRoom()
  const desk = useDesk()
  const queries = useQueryClient()
  return useMemo(() => ({ rows: room.rows, desk, queries }), [room, desk, queries])
}

/** Binds every command's key. Approvals have their own, stricter listener in the tray. */
export function useCommandKeys(): void {
  const context = useCommandContext()
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return
      const command = commands.find((one) => one.group !== 'approvals' && one.chord !== undefined && isChord(event, one.chord, onMac()))
      if (command === undefined || command.when?.(context) === false) return
      if (command.whileTyping !== true && isTyping(event.target)) return
      // A dialog is answered or closed first; only the palette can be called over it.
      if (command.id !== 'view.palette' && document.querySelector('[role="dialog"]') !== null) return
      event.preventDefault()
      command.run(context)
    }
    window.addEventListener('keydown', onKey)
    return () => {
      window.removeEventListener('keydown', onKey)
    }
  }, [context])
}
