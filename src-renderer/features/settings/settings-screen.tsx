import type { ReactNode } from 'react'
import type { SettingsSection } from '../../store/ui-store.ts'

/** Being built. */
export function SettingsScreen({ section }: { readonly section: SettingsSection }): ReactNode {
  return <div data-section={section} />
}
