import { join } from 'node:path'
import { failure, type Failure } from '../../../../src-preload/contract/failure.ts'
import { err, ok, type Result } from '../../../../src-preload/contract/result.ts'
import { workspaceRoot } from '../../../core/approval/path-pattern.ts'
import { createControlClient } from '../control-client.ts'
import { createMessageIds } from '../message-ids.ts'
import type { LogLine } from '../observer.ts'
import type { Way, WayParts } from '../way.ts'
import { openCliConversation } from './cli-conversation.ts'
import { observerAllowed, observerScript } from './observer-script.ts'
import type { CliGround } from './orders.ts'
import { insideFiles, runnerPasswordVariable, runnerScript } from './runner-script.ts'
import { stageFile } from './staged-file.ts'

/** One `opencode run --format json` a turn, in the task's sandbox. Fails with `invalid-input` when the task needs what `run` cannot do. */
export async function cliWay(parts: WayParts): Promise<Result<Way, Failure>> {
  const { deps, spec, boot, binary } = parts
  if (spec.permissions.edit === 'ask') return err(failure('invalid-input', '“opencode run” cannot ask before an edit: it would refuse each one by itself.', 'Start the task again with edits allowed or denied, or with the OpenCode server.'))
  if (boot.places.workspace !== workspaceRoot) return err(failure('invalid-input', '“opencode run” needs a sandbox that gives its files places of their own, which this system has not.', 'Start the task again with the OpenCode server.'))
  const log = (line: LogLine): void => { deps.log({ ...line, taskId: spec.taskId }) }
  const runner = await stage(deps.filesDir, 'runner.js', runnerScript, log)
  if (!runner.ok) return err(failure('workspace-failed', `The app's own files for “opencode run” could not be written: ${runner.error}.`, 'Check free space and permissions of the app\'s data folder.'))
  const observer = await observerFile(deps.filesDir, binary.version, log)
  const ground: CliGround = { spec, boot, version: binary.version, observed: observer.ok, operatorEnvironment: process.env }
  return ok({
    launch: {
      // Without the workspace's bunfig.toml and .env; the scripts' folder holds neither.
      args: ['--config=/dev/null', '--no-env-file', insideFiles.runner, String(boot.port), openCodeInside],
      env: { BUN_BE_BUN: '1', PATH: '/usr/bin:/bin', HOME: '/nonexistent', [runnerPasswordVariable]: boot.password },
      readyLine: new RegExp(`^runner listening on ${String(boot.port)}$`),
      readOnlyFiles: [{ hostPath: runner.value, into: insideFiles.runner }, ...(observer.ok ? [{ hostPath: observer.value, into: insideFiles.observer }] : [])],
    },
    notes: observer.ok ? [] : [`Calls of Bot B are shown early by the model proxy only: the observer of “opencode run” is off. ${observer.error}`],
    open: (agent) => {
      const client = createControlClient({ socketPath: agent.controlSocketPath, password: boot.password, directory: boot.places.workspace, timers: deps.timers })
      return Promise.resolve(ok(openCliConversation({ client, process: agent, ground, clock: deps.clock, timers: deps.timers, log, newSessionId: () => mintSessionId(deps), onSignal: spec.onSignal })))
    },
  })
}

/** An id as OpenCode's own sessions have it. */
function mintSessionId({ ids, clock }: WayParts['deps']): string {
  return createMessageIds(ids)(clock.now()).messageId.replace(/^msg_/, 'ses_')
}

/** Where the sandbox has OpenCode's binary (ports.ts, AgentSpec). */
const openCodeInside = '/opt/opencode/opencode'

/** The observer, or why this run goes without: that takes nothing from the run but early rows. */
async function observerFile(folder: string, version: string, log: (line: LogLine) => void): Promise<Result<string, string>> {
  const allowed = observerAllowed(version, process.env)
  const staged = allowed.ok ? await stage(folder, 'observer.mjs', observerScript, log) : err(`${allowed.error}.`)
  if (!staged.ok) log({ level: 'warn', msg: 'the observer is off', why: staged.error })
  return staged
}

async function stage(folder: string, name: string, text: string, log: (line: LogLine) => void): Promise<Result<string, string>> {
  try {
    const { path, repaired } = await stageFile(folder, name, text)
    if (repaired) log({ level: 'warn', msg: 'a file of the app had been changed and was written again', file: join('opencode-run', name) })
    return ok(path)
  } catch (cause) {
    return err(cause instanceof Error ? cause.message : String(cause))
  }
}
