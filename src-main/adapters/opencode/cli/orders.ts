import { randomBytes } from 'node:crypto'
import type { CoderSpec } from '../../../engine/ports.ts'
import { launchConfig, launchEnvironment, type Boot, type LaunchConfig, type Rights } from '../launch-config.ts'
import type { CliOrder } from './runner-client.ts'
import { insideFiles } from './runner-script.ts'

/** What all runs of a task's OpenCode have in common. */
export interface CliGround {
  readonly spec: Pick<CoderSpec, 'token' | 'model' | 'permissions'>
  readonly boot: Boot
  readonly version: string
  /** Whether the observer is given to turns. */
  readonly observed: boolean
  readonly operatorEnvironment: Readonly<Record<string, string | undefined>>
}

/**
 * `opencode run` refuses by itself whatever its configuration says `ask` for. So commands are allowed here and decided at the host's broker,
 * which sees each one's exact text before it runs; edits are allowed or denied; a question could not be answered.
 */
function rightsOf({ edit, bash }: CoderSpec['permissions']): Rights {
  return { edit: edit === 'allow' ? 'allow' : 'deny', bash: bash === 'ask' ? 'allow' : 'deny', question: 'deny' }
}

/** A turn: continues the session with these words. Its message in the history carries the turn's id as the name of its agent. */
export function turnOrder(ground: CliGround, turn: { readonly sessionId: string; readonly messageId: string; readonly text: string; readonly system: string }): CliOrder {
  const folder = newFolder()
  const base = launchConfig(ground.spec, rightsOf(ground.spec.permissions), ground.boot, ground.version)
  const named = { ...base, agent: { [turn.messageId]: { mode: 'primary' } }, instructions: [...base.instructions, `${folder}/instructions.md`] }
  return order(ground, ['run', '--format', 'json', '--thinking', '--session', turn.sessionId, '--agent', turn.messageId], {
    folder, files: { 'instructions.md': turn.system }, input: turn.text, config: ground.observed ? withObserver(named, insideFiles.observer) : named, plugins: ground.observed,
  })
}

/** Adds the observer to the plugins of a configuration; those that it has are kept, in their order. */
export function withObserver<C extends LaunchConfig>(config: C, path: string): C {
  const url = `file://${path}`
  return { ...config, plugin: [...config.plugin.filter((plugin) => plugin !== url), url] }
}

/** Makes an empty session of this id and title. Says `Imported session` when it did; its exit code alone says nothing (1.17.18). */
export function importOrder(ground: CliGround, session: { readonly sessionId: string; readonly title: string; readonly at: number }): CliOrder {
  const folder = newFolder()
  const { sessionId: id, title, at } = session
  const text = JSON.stringify({ info: { id, slug: 'task', projectID: 'global', directory: ground.boot.places.workspace, title, version: ground.version, time: { created: at, updated: at } }, messages: [] })
  return order(ground, ['import', `${folder}/session.json`], { folder, files: { 'session.json': text } })
}

/** Sessions as JSON. */
export function listOrder(ground: CliGround): CliOrder {
  return order(ground, ['session', 'list', '--format', 'json', '--max-count', '1000'], {})
}

/** A session with its messages as JSON. */
export function exportOrder(ground: CliGround, sessionId: string): CliOrder {
  return order(ground, ['export', sessionId], {})
}

interface OrderParts { readonly folder?: string; readonly files?: Readonly<Record<string, string>>; readonly input?: string; readonly config?: LaunchConfig; readonly plugins?: boolean }

function order(ground: CliGround, args: readonly string[], parts: OrderParts): CliOrder {
  const config = parts.config ?? launchConfig(ground.spec, rightsOf(ground.spec.permissions), ground.boot, ground.version)
  // Its server listens to nobody but itself: a password of its own, which nobody else has.
  const boot = { ...ground.boot, password: randomBytes(24).toString('base64url') }
  return {
    args, folder: parts.folder ?? newFolder(), files: parts.files ?? {}, input: parts.input ?? '',
    env: launchEnvironment(config, boot, ground.operatorEnvironment, { questions: false, plugins: parts.plugins === true }),
  }
}

function newFolder(): string {
  return `/tmp/run-${randomBytes(9).toString('hex')}`
}
