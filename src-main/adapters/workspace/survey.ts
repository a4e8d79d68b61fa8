import { statfs } from 'node:fs/promises'
import { basename } from 'node:path'
import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { limits } from '../../../src-preload/contract/limits.ts'
import type { FolderFacts } from '../../../src-preload/contract/methods.ts'
import type { Mount } from '../../../src-preload/contract/task.ts'
import { CountRules } from './count-rules.ts'
import { proposeDependencies } from './dependency-proposals.ts'
import { systemCode, WorkspaceFault } from './fault.ts'
import { admitFolder } from './folder-refusal.ts'
import { readGit, type GitFacts } from './git-facts.ts'
import { defaultIgnores, type IgnoreSource } from './ignore-rules.ts'
import { looksSecret } from './secrets.ts'
import { inTheirPlaces } from './mounts-in-place.ts'
import { likelyTestCommands } from './test-commands.ts'
import { proposeToolchains } from './toolchain-proposals.ts'
import { tooLargeFailure, walkTree, readsAtOnce, type LeftOut } from './walk.ts'

export interface SurveyPlaces { readonly homeDir: string; readonly dataDir: string }
/** What is known of a folder, and what `prepare` needs to copy exactly that. */
export interface Survey { readonly facts: FolderFacts; readonly git: GitFacts | null; readonly sources: readonly IgnoreSource[] }

const defaults: IgnoreSource = { folder: '', level: 'default', text: defaultIgnores }

/** Rules for a first walk of a folder: what git tracks counts, .gitignore files are learned on the way. */
export function firstRules(survey: Pick<Survey, 'git' | 'sources'>, mountPoints: readonly string[]): CountRules {
  return new CountRules({ prefix: survey.git?.prefix ?? '', sources: survey.sources, always: survey.git?.tracked ?? [], mountPoints, learns: true })
}

const shownHere = (proposals: Mount[]): Mount[] => (process.platform === 'linux' ? proposals : inTheirPlaces(proposals))

/** Looks at a folder of the owner's: reads names and sizes, runs nothing of it, writes nothing to it. Refusals are in `facts.refusal`. */
export async function surveyFolder(path: string, places: SurveyPlaces, signal: AbortSignal): Promise<Survey> {
  const admitted = await admitFolder(path, places)
  if (!admitted.ok) return { facts: { ...nothingKnown(path), refusal: admitted.error }, git: null, sources: [] }
  const root = admitted.value
  const notes: string[] = await placeNotes(path, root)
  const reading = await readGit(root, signal)
  const git = reading.is === 'git' ? reading.facts : null
  if (reading.is === 'unreadable') notes.push(`Git could not read this repository (${reading.reason}); it is copied as a plain folder, .gitignore honoured.`)
  const sources = [...(git?.sources ?? []), defaults]
  const counted = await countFiles(root, { git, sources }, signal)
  notes.push(...counted.notes, ...gitNotes(git))
  const rootNames = counted.rootNames
  const facts: FolderFacts = {
    path: root, label: basename(root), files: counted.files, bytes: counted.bytes, notes,
    git: git === null ? null : { branch: git.branch, commit: git.commit, dirtyFiles: (git.changedFiles ?? 0) + counted.untracked, submodules: git.submodules.length },
    proposals: counted.refusal === null ? shownHere([...(await proposeDependencies(root, counted.ignoredFolders)), ...(await proposeToolchains(places.homeDir, rootNames))]) : [],
    testCommands: counted.refusal === null ? [...(await likelyTestCommands(root, rootNames))] : [],
    refusal: counted.refusal,
  }
  if (facts.git !== null && facts.git.dirtyFiles > 0) notes.push(`${facts.git.dirtyFiles} files differ from the last commit; the copy is taken as they are now.`)
  return { facts, git, sources }
}

function nothingKnown(path: string): FolderFacts {
  return { path, label: basename(path) || path, git: null, files: 0, bytes: 0, notes: [], proposals: [], testCommands: [], refusal: null }
}

interface Counted { readonly files: number; readonly bytes: number; readonly untracked: number; readonly notes: readonly string[]; readonly ignoredFolders: readonly string[]; readonly rootNames: ReadonlySet<string>; readonly refusal: Failure | null }

async function countFiles(root: string, from: Pick<Survey, 'git' | 'sources'>, signal: AbortSignal): Promise<Counted> {
  const rules = firstRules(from, [])
  const tracked = new Set(from.git?.tracked ?? [])
  const submodules = from.git?.submodules ?? []
  const ignoredFolders: string[] = []
  const rootNames = new Set<string>()
  const secrets: string[] = []
  let [files, bytes, untracked] = [0, 0, 0]
  const so = { filesMax: limits.folderFilesMax, bytesMax: limits.folderBytesMax }
  const done = (leftOut: readonly LeftOut[], refusal: Failure | null): Counted => {
    const notes = [...rules.notes, ...leftOutNotes(leftOut), ...secretNotes(secrets)]
    return { files, bytes, untracked, notes, ignoredFolders, rootNames, refusal }
  }
  try {
    const walked = await walkTree(root, rules, (found) => {
      files += 1
      bytes += found.stat.size
      if (from.git !== null && !tracked.has(found.path) && !submodules.some((path) => found.path.startsWith(`${path}/`))) untracked += 1
      if (!found.path.includes('/')) rootNames.add(found.path)
      if (looksSecret(found.path) && secrets.length < 20) secrets.push(found.path)
    }, { signal, atOnce: readsAtOnce, ...so, tooLarge: (many, much) => tooLargeFailure(many, much, so.filesMax, so.bytesMax), onIgnoredFolder: (path) => {
      if (ignoredFolders.length < 5_000) ignoredFolders.push(path)
      if (!path.includes('/')) rootNames.add(path)
    } })
    return done(walked.leftOut, null)
  } catch (error) {
    if (error instanceof WorkspaceFault) return done([], error.failure)
    const code = systemCode(error)
    if ((code === 'EACCES' || code === 'EPERM') && error instanceof Error) return done([], failure('folder-refused', `A part of the folder cannot be read (${error.message}).`, 'Change who may read it, or ignore it in .gitignore.'))
    throw error
  }
}

function gitNotes(git: GitFacts | null): readonly string[] {
  if (git === null) return []
  const notes: string[] = []
  if (git.commit === null) notes.push('This repository has no commit yet.')
  if (git.changedFiles === null) notes.push('Git could not say in time which tracked files have changed.')
  if (git.prefix !== '') notes.push(`The folder is a part (${git.prefix}) of a larger repository; only this part is copied.`)
  if (git.submodules.length > 0) notes.push(`${git.submodules.length} submodules are copied as plain files, as they are now, and never updated: ${shortList(git.submodules)}.`)
  return notes
}

const leftOutWords: Readonly<Record<LeftOut['why'], string>> = {
  'link-out': 'links that lead out of the folder', special: 'FIFOs, sockets or devices', 'name-not-utf8': 'names that are not UTF-8, in', 'too-deep': 'paths that are too long or too deep', masked: 'settings of coding agents',
}

/** One note for each kind of thing that is not copied. */
export function leftOutNotes(leftOut: readonly LeftOut[]): readonly string[] {
  return Object.entries(leftOutWords).flatMap(([why, words]) => {
    const paths = leftOut.filter((entry) => entry.why === why).map((entry) => entry.path)
    return paths.length === 0 ? [] : [`Left out, ${words}: ${shortList(paths)}.`]
  })
}

function secretNotes(paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? [] : [`These look like secrets and are part of the copy, so the coder can read them: ${shortList(paths)}. Ignore them in .gitignore to keep them out.`]
}

/** A few names of many, safe to show in one line. */
export function shortList(paths: readonly string[]): string {
  const shown = paths.slice(0, 5).map((path) => path.slice(0, 200).replace(/\p{Cc}/gu, '\uFFFD'))
  return paths.length > 5 ? `${shown.join(', ')} and ${paths.length - 5} more` : shown.join(', ')
}

const networkTypes: Readonly<Record<number, string>> = { 0x6969: 'NFS', 0x517b: 'SMB', 0xff534d42: 'SMB', 0xfe534d42: 'SMB', 0x65735546: 'FUSE', 0x01021997: '9P' }

async function placeNotes(asked: string, root: string): Promise<string[]> {
  const notes = asked.replace(/\/+$/, '') === root ? [] : [`${asked} is a link to ${root}.`]
  const network = networkTypes[(await statfs(root)).type >>> 0]
  if (network !== undefined) notes.push(`The folder is on a network or user-space drive (${network}); copying it can take long.`)
  return notes
}
