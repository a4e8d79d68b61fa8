import { failure, type Failure } from '../../../src-preload/contract/failure.ts'
import { err, type Result } from '../../../src-preload/contract/result.ts'
import type { AgentProcess, CoderSignal } from '../../engine/ports.ts'
import { createControlClient } from './control-client.ts'
import { createEditWatch } from './edit-watch.ts'
import { proveIdentity } from './handshake.ts'
import { launchArgs, launchConfig, launchEnvironment } from './launch-config.ts'
import type { LogLine } from './observer.ts'
import { openConversation, type Conversation } from './run.ts'
import type { Way, WayParts } from './way.ts'

/** One `opencode serve` a task. */
export function serverWay(parts: WayParts): Way {
  const { spec, boot, binary } = parts
  const config = launchConfig(spec, { ...spec.permissions, question: 'allow' }, boot, binary.version)
  return {
    launch: { args: launchArgs(boot), env: launchEnvironment(config, boot, process.env, { questions: true, plugins: false }), readyLine: new RegExp(`opencode server listening on http://127\\.0\\.0\\.1:${boot.port}\\b`) },
    notes: [],
    open: (agent, signal) => open(parts, agent, signal),
  }
}

/**
 * Proves identity and opens the event stream, side by side: both wait for the same first instance call. What is observed meanwhile is told
 * only when the start succeeds; of a start that failed, its failure is all there is to tell.
 */
async function open({ deps, spec, boot, binary, refused, turns }: WayParts, agent: AgentProcess, signal: AbortSignal): Promise<Result<Conversation, Failure>> {
  const client = createControlClient({ socketPath: agent.controlSocketPath, password: boot.password, directory: boot.places.workspace, timers: deps.timers })
  const log = (line: LogLine): void => { deps.log({ ...line, taskId: spec.taskId }) }
  const early: CoderSignal[] = []
  let tell = (observed: CoderSignal): void => { early.push(observed) }
  const [foreign, conversation] = await Promise.all([
    proveIdentity(client, boot, binary.version),
    openConversation({ client, process: agent, refused, workspace: boot.places.workspace, edits: createEditWatch(spec.workspaceDir, boot.places.workspace, turns, spec.onWriteWait), clock: deps.clock, timers: deps.timers, log, onSignal: (observed) => { tell(observed) } }),
  ])
  if (signal.aborted) return err(failure('cancelled', 'The start of the coder was stopped.', 'Nothing to do.'))
  if (foreign !== null) return err(foreign)
  if (!conversation.ok) return conversation
  tell = spec.onSignal
  for (const observed of early) tell(observed)
  return conversation
}
