import type { VendorCli } from '../../../src-preload/contract/settings.ts'
import { t } from '../../i18n/text.ts'

/** The vendor's program as it is typed: lists are one entry a line. */
export interface VendorDraft {
  readonly label: string
  readonly program: string
  readonly serveArgs: string
  readonly execArgs: string
  readonly homeFolder: string
  readonly folders: string
  readonly hosts: string
}

/** The form of a program; for a new one with the arguments that such programs usually take. */
export function vendorDraft(vendor: VendorCli | undefined): VendorDraft {
  if (vendor === undefined) return { label: '', program: '', serveArgs: 'serve\n--port\n{port}', execArgs: 'exec\n--approval-mode\nnever\n--prompt-file\n{promptFile}', homeFolder: '', folders: '', hosts: '' }
  const { label, program, serveArgs, execArgs, homeFolder, folders, hosts } = vendor
  return { label, program, serveArgs: serveArgs.join('\n'), execArgs: execArgs.join('\n'), homeFolder: homeFolder ?? '', folders: folders.join('\n'), hosts: hosts.join('\n') }
}

const linesOf = (text: string): string[] => text.split('\n').map((line) => line.trim()).filter((line) => line !== '')

/** What is wrong with a draft, by field. */
export function vendorProblems(draft: VendorDraft): Partial<Record<keyof VendorDraft, string>> {
  const problems: Partial<Record<keyof VendorDraft, string>> = {}
  if (draft.label.trim() === '') problems.label = t.fallbacks.needLabel
  if (!draft.program.trim().startsWith('/')) problems.program = t.fallbacks.needPath
  if (!draft.serveArgs.includes('{port}')) problems.serveArgs = t.fallbacks.needPort
  if (!draft.execArgs.includes('{promptFile}')) problems.execArgs = t.fallbacks.needPromptFile
  if (draft.homeFolder.trim() !== '' && !draft.homeFolder.trim().startsWith('/')) problems.homeFolder = t.fallbacks.needPath
  if (linesOf(draft.folders).some((line) => !line.startsWith('/'))) problems.folders = t.fallbacks.needPath
  if (linesOf(draft.hosts).some((line) => !/^[A-Za-z0-9.-]+(:\d{1,5})?$/.test(line))) problems.hosts = t.fallbacks.badHost
  return problems
}

/** The program that a draft without problems describes. */
export function vendorOf(draft: VendorDraft): VendorCli {
  const home = draft.homeFolder.trim()
  return {
    label: draft.label.trim(), program: draft.program.trim(), serveArgs: linesOf(draft.serveArgs), execArgs: linesOf(draft.execArgs), homeFolder: home === '' ? null : home,
    folders: linesOf(draft.folders), hosts: linesOf(draft.hosts),
  }
}
