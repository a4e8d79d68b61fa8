import type { AgentPlaces, CoderSpec } from '../../engine/ports.ts'

/** The one provider and model that the agent knows. The alias stands for whatever model the task was given. */
export const providerId = 'gw'
export const modelAlias = 'm1'
/** The agent that runs the turns; OpenCode's own with write access. */
export const agentName = 'build'

export interface Boot {
  /** Basic auth of this boot's server; random. */
  readonly password: string
  /** Stands in the configuration and is read back: proves that the server that answers is the process we started. */
  readonly nonce: string
  readonly port: number
  readonly places: AgentPlaces
}

/** Arguments of the agent's command line. No secret: they are visible to every process inside. */
export function launchArgs(boot: Boot): readonly string[] {
  return ['serve', '--port', String(boot.port), '--hostname', '127.0.0.1']
}

/** What OpenCode itself lets its tools do. `ask` is answered over its server: `opencode run` would refuse by itself. */
export interface Rights { readonly edit: 'allow' | 'ask' | 'deny'; readonly bash: 'allow' | 'ask' | 'deny'; readonly question: 'allow' | 'deny' }

/** The two parts of a configuration that a turn may add to; the rest is OpenCode's business. */
export interface LaunchConfig { readonly plugin: readonly string[]; readonly instructions: readonly string[]; readonly [key: string]: unknown }

/** The configuration that `OPENCODE_CONFIG_CONTENT` carries (opencode.md, “Hermetic”; sandbox.md, “command broker”). */
export function launchConfig(spec: Pick<CoderSpec, 'token' | 'model'>, rights: Rights, boot: Boot, version: string): LaunchConfig {
  return {
    autoupdate: false, share: 'disabled', snapshot: false, lsp: false, formatter: false,
    shell: boot.places.shell,
    enabled_providers: [providerId], model: `${providerId}/${modelAlias}`, small_model: `${providerId}/${modelAlias}`,
    permission: permissions(rights),
    mcp: {}, plugin: [], instructions: [],
    // A denied call is told to the model; by default one that was rejected together with another ends the turn.
    ...(rights.edit === 'ask' || rights.bash === 'ask' ? { experimental: { continue_loop_on_deny: true } } : {}),
    provider: {
      [providerId]: {
        name: boot.nonce,
        npm: spec.model.api === 'responses' ? '@ai-sdk/openai' : '@ai-sdk/openai-compatible',
        options: { baseURL: boot.places.proxyBaseUrl, apiKey: spec.token, ...noTimeouts(version) },
        models: {
          [modelAlias]: { id: spec.model.modelId, name: spec.model.modelId, tool_call: true, limit: { context: spec.model.contextTokens, output: spec.model.outputTokens } },
        },
      },
    },
  }
}

/**
 * The proxy owns all timeouts: it tells a slow model from a dead stream. 1.17 has none to turn off, and refuses the whole
 * configuration when it meets `false` here.
 */
function noTimeouts(version: string): Record<string, false> {
  return version.startsWith('1.17.') ? {} : { chunkTimeout: false, headerTimeout: false }
}

/**
 * Every permission that OpenCode knows, set explicitly, and whatever it will learn denied. The last match wins, so `*` is first.
 * `edit` covers write, edit and apply_patch. `external_directory` is denied: asking would stall the turn.
 */
function permissions(given: Rights): Record<string, 'allow' | 'ask' | 'deny'> {
  return {
    '*': 'deny',
    read: 'allow', glob: 'allow', grep: 'allow', question: given.question,
    edit: given.edit, bash: given.bash,
    external_directory: 'deny', list: 'deny', task: 'deny', skill: 'deny', lsp: 'deny', doom_loop: 'deny',
    todowrite: 'deny', todoread: 'deny', webfetch: 'deny', websearch: 'deny', codesearch: 'deny',
  }
}

/** The agent's whole environment. Nothing of the operator's reaches it but explicit npm retry settings. `plugins`: those of the configuration are loaded. */
export function launchEnvironment(config: LaunchConfig, { password, places }: Pick<Boot, 'password' | 'places'>, operatorEnvironment: Readonly<Record<string, string | undefined>>, use: { readonly questions: boolean; readonly plugins: boolean }): Record<string, string> {
  return {
    PATH: places.searchPath, LANG: 'C.UTF-8', TERM: 'dumb', USER: 'agent', HOME: places.home, TMPDIR: places.temporary, SHELL: places.shell,
    XDG_CONFIG_HOME: `${places.home}/.config`, XDG_DATA_HOME: `${places.home}/.local/share`, XDG_STATE_HOME: `${places.home}/.local/state`, XDG_CACHE_HOME: `${places.home}/.cache`,
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config), OPENCODE_SERVER_PASSWORD: password,
    ...(use.questions ? { OPENCODE_ENABLE_QUESTION_TOOL: '1' } : {}), ...(use.plugins ? {} : { OPENCODE_PURE: '1' }),
    // A command may wait for the owner at the broker: OpenCode's own two minutes would end it meanwhile. The broker bounds it.
    OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS: String(commandWaitMs),
    ...Object.fromEntries(disabled.map((name) => [`OPENCODE_DISABLE_${name}`, '1'])),
    ...npmSettings(operatorEnvironment),
  }
}

const disabled = ['AUTOUPDATE', 'MODELS_FETCH', 'LSP_DOWNLOAD', 'DEFAULT_PLUGINS', 'CLAUDE_CODE', 'EXTERNAL_SKILLS', 'PROJECT_CONFIG', 'SHARE', 'EMBEDDED_WEB_UI'] as const

const commandWaitMs = 15 * 60_000

const npmDefaults = { npm_config_fetch_retries: '0', npm_config_fetch_timeout: '10000' } as const

/** Child-only npm defaults; an explicit setting of the operator, in upper or lower case, is kept as it is spelled. */
function npmSettings(operatorEnvironment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const settings: Record<string, string> = {}
  for (const [name, value] of Object.entries(npmDefaults)) {
    const kept = [name, name.toUpperCase()].filter((spelling) => operatorEnvironment[spelling] !== undefined)
    if (kept.length === 0) settings[name] = value
    for (const spelling of kept) settings[spelling] = operatorEnvironment[spelling] ?? ''
  }
  return settings
}
