import { randomInt } from 'node:crypto'
import type { AgentPlaces } from '../../engine/ports.ts'

/** Where things are inside a sandbox. (What they are called outside is no secret: the kernel's list of mounts shows it.) */
export const insidePaths = {
  workspace: '/workspace',
  home: '/home/agent',
  openCode: '/opt/opencode/opencode',
  /** Read-only folder of this adapter's scripts; the bridge and the shell client start here, never in the workspace (see `scripts.ts`). */
  app: '/opt/app',
  bridge: '/opt/app/bridge.js',
  shellClient: '/opt/app/client.js',
  /** What OpenCode's `config.shell` must be: hands each command to the host's broker and runs none itself. */
  shell: '/opt/app/shell',
  /** The one command interpreter of the agent sandbox; it runs `shell` and nothing else. */
  plainShell: '/opt/app/sh',
  bunConfig: '/opt/app/bunfig.toml',
  tools: '/opt/tools',
  /** The folder of the proxy's socket, not the socket: a proxy that comes back makes a new one, which is found by its name. */
  egressFolder: '/run/app/egress',
  brokerSocket: '/run/app/broker.sock',
  promptFile: '/run/app/prompt.txt',
  controlFolder: '/run/ctl',
  controlSocket: '/run/ctl/control.sock',
} as const

/** TCP port inside the agent sandbox behind which the model proxy is. */
export const egressPort = 7000

/** The same, as far as the agent's own programs have to name it. Each agent has a network of its own, where any port is free. */
export const agentPlaces = (): AgentPlaces => ({ workspace: insidePaths.workspace, home: insidePaths.home, temporary: '/tmp', shell: insidePaths.shell, proxyBaseUrl: `http://127.0.0.1:${egressPort}/v1`, controlPort: randomInt(20_000, 60_000), searchPath: '/usr/local/bin:/usr/bin:/bin' })
