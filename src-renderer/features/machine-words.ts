import type { AppInfo } from '../../src-preload/contract/methods.ts'
import { t } from '../i18n/text.ts'

type Machine = Pick<AppInfo, 'openCodeFailure'> & { readonly isolation: Pick<AppInfo['isolation'], 'usable' | 'level'>; readonly versions: Pick<AppInfo['versions'], 'openCode'> }

/** How the machine stands, in one line. An OpenCode that only took too long to tell its version is there: it is not known yet. */
export function machineWords({ isolation, versions, openCodeFailure }: Machine): string {
  const isolated = !isolation.usable ? t.nav.isolationNone : isolation.level === 'seatbelt-untested' ? t.nav.isolationUntested : t.nav.isolationOk
  return `${isolated} · ${openCodeWords(versions.openCode, openCodeFailure)}`
}

function openCodeWords(version: string | null, failure: AppInfo['openCodeFailure']): string {
  if (failure?.code === 'opencode-probe-timeout') return t.nav.openCodeSlow
  return version === null || failure !== null ? t.nav.noOpenCode : `OpenCode ${version}`
}
