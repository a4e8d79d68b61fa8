import { Command, History, Plus, Settings, ShieldAlert, ShieldCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { t } from '../i18n/text.ts'
import { useMethod } from '../store/queries.ts'
import { changeUi, show, useUi } from '../store/ui-store.ts'
import { Button, IconButton, WithTip } from '../ui/button.tsx'
import { Button as AriaButton } from 'react-aria-components'
import { machineWords } from './machine-words.ts'
import { TaskList } from './screens.tsx'

/** The left edge: the tasks, the way to everything else, and how the machine stands. */
export function Sidebar(): ReactNode {
  const screen = useUi((ui) => ui.screen.at)
  return (
    <nav className="sidebar" aria-label={t.nav.tasks}>
      <div className="sidebar-top">
        <Button icon={Plus} chord="mod+n" className="grow" aria-current={screen === 'new-task' ? 'page' : false} onPress={() => { show({ at: 'new-task' }) }}>
          {t.nav.newTask}
        </Button>
        <IconButton label={t.nav.palette} icon={Command} chord="mod+k" onPress={() => { changeUi({ paletteOpen: true }) }} />
      </div>
      <TaskList />
      <div className="sidebar-bottom">
        <NavButton label={t.nav.audit} icon={<History className="icon" aria-hidden />} chord="mod+3" current={screen === 'audit'} onPress={() => { show({ at: 'audit' }) }} />
        <NavButton label={t.nav.settings} icon={<Settings className="icon" aria-hidden />} chord="mod+," current={screen === 'settings'} onPress={() => { show({ at: 'settings', section: 'providers' }) }} />
        <MachineLine />
      </div>
    </nav>
  )
}

function NavButton({ label, icon, chord, current, onPress }: { readonly label: string; readonly icon: ReactNode; readonly chord: string; readonly current: boolean; readonly onPress: () => void }): ReactNode {
  return (
    <WithTip tip={label} chord={chord}>
      <AriaButton className={`nav-button${current ? ' nav-current' : ''}`} aria-current={current ? 'page' : false} onPress={onPress}>
        {icon}
        {label}
      </AriaButton>
    </WithTip>
  )
}

/** Isolation and OpenCode in one line: the two things that decide whether anything can run. */
function MachineLine(): ReactNode {
  // A probe that ran out of time says nothing of OpenCode: it is asked again until it is known.
  const info = useMethod('app.info', {}, { staleTimeMs: 10_000, againAfterMs: (data) => (data?.openCodeFailure?.code === 'opencode-probe-timeout' ? 10_000 : false) })
  if (info.data === undefined) return <div className="machine" />
  const { isolation } = info.data
  const untested = isolation.level === 'seatbelt-untested'
  const machine = machineWords(info.data)
  return (
    <AriaButton className="machine" onPress={() => { show({ at: 'settings', section: isolation.usable && !untested ? 'runtimes' : 'isolation' }) }}>
      {isolation.usable && !untested ? <ShieldCheck className="icon icon-small good" aria-hidden /> : <ShieldAlert className={`icon icon-small ${isolation.usable ? 'warn' : 'bad'}`} aria-hidden />}
      <span className="clip" dir="auto" title={machine}>{machine}</span>
    </AriaButton>
  )
}
