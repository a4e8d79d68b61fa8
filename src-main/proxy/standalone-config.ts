import { readFile, stat } from 'node:fs/promises'
import { dirname, isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import { limits } from '../../src-preload/contract/limits.ts'
import { err, ok, type Result } from '../../src-preload/contract/result.ts'
import { providerSchema, vendorCliSchema, type VendorCli } from '../../src-preload/contract/settings.ts'
import { hasUser } from '../../src-preload/contract/url-user.ts'
import { gatewayGrantSchema } from '../core/gateway/messages.ts'
import { presentable } from './grants.ts'

const secretSource = { env: z.string().min(1).max(200).optional(), file: z.string().min(1).max(4_096).optional() }

/** One client: its token (from a variable or a private file, never from this file), the models that it may use, and its caps. */
const clientSchema = z.strictObject({
  name: z.string().min(1).max(64).regex(/^[A-Za-z0-9][A-Za-z0-9_-]*$/), token: z.strictObject(secretSource),
  models: z.array(z.strictObject({ provider: z.string(), model: z.string(), fallback: z.boolean().default(false) })).min(1).max(50),
  budget: z.strictObject({ requestsMax: z.number().int().min(1).default(1_000_000), tokensMax: z.number().int().min(1).default(1_000_000_000), moneyMicroUsdMax: z.number().int().min(0).nullable().default(null) }).prefault({}),
})

/** The file of `countersign-proxy --config`. Unknown members are refused. See docs/proxy.md. */
const configSchema = z.strictObject({
  port: z.number().int().min(0).max(65_535).default(limits.proxyDefaultPort),
  providers: z.array(providerSchema.omit({ keyEnv: true }).extend({ key: z.strictObject(secretSource).optional() })).min(1).max(50),
  clients: z.array(clientSchema).min(1).max(50),
  directEnabled: z.boolean().default(true),
  fallbacks: z.strictObject({ warmEnabled: z.boolean().default(false), execEnabled: z.boolean().default(false), vendor: vendorCliSchema.omit({ folders: true, hosts: true }).optional() }).prefault({}),
})

export type StandaloneProvider = z.infer<typeof configSchema>['providers'][number]

/** A client with its token, and what it may use. */
export interface StandaloneClient extends Omit<z.infer<typeof clientSchema>, 'token'> { readonly token: string }

/** Everything read and resolved; secrets are in memory from here on. */
export interface StandaloneConfig {
  readonly port: number
  readonly directEnabled: boolean
  readonly warmEnabled: boolean
  readonly execEnabled: boolean
  readonly vendor: VendorCli | null
  readonly providers: ReadonlyMap<string, { readonly provider: StandaloneProvider; readonly credential: string | null }>
  readonly clients: readonly StandaloneClient[]
}

/** Reads a configuration. The error says in one line what is wrong and where; it never holds a secret. Paths are relative to the file. */
export async function loadStandaloneConfig(path: string, env: NodeJS.ProcessEnv): Promise<Result<StandaloneConfig, string>> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => error as NodeJS.ErrnoException)
  if (typeof text !== 'string') return err(`${path} cannot be read (${text.code ?? text.message}). ${text.code === 'ENOENT' ? 'Name an existing file after --config; docs/proxy.md has an example to begin with.' : 'Check that it is a file that this user may read.'}`)
  const parsed = parse(text)
  if (!parsed.ok) return err(`${path}: ${parsed.error}`)
  const checked = configSchema.safeParse(parsed.value)
  if (!checked.success) return err(`${path}: ${checked.error.issues.slice(0, 5).map((issue) => `${issue.path.map(String).join('.') || 'the whole'}: ${issue.message}`).join('; ')}. All members are in docs/proxy.md.`)
  return resolved(checked.data, { folder: dirname(resolve(path)), env })
}

interface Place { readonly folder: string; readonly env: NodeJS.ProcessEnv }

async function resolved(config: z.infer<typeof configSchema>, place: Place): Promise<Result<StandaloneConfig, string>> {
  const { warmEnabled, execEnabled, vendor } = config.fallbacks
  if ((warmEnabled || execEnabled) && vendor === undefined) return err('fallbacks: a fallback is turned on, and no vendor program is named')
  if (warmEnabled && vendor?.serveArgs.some((arg) => arg.includes('{port}')) === false) return err('fallbacks.vendor.serveArgs: {port} is not among them; the server would not know where to listen')
  if (execEnabled && vendor?.execArgs.some((arg) => arg.includes('{promptFile}')) === false) return err('fallbacks.vendor.execArgs: {promptFile} is not among them; a run would not get its prompt')
  const providers = new Map<string, { provider: StandaloneProvider; credential: string | null }>()
  for (const provider of config.providers) {
    const key = provider.key === undefined ? ok(null) : await secret(provider.key, `providers.${provider.id}.key`, place)
    if (!key.ok) return key
    const problem = providerProblem(provider, key.value)
    if (problem !== null) return err(problem)
    if (providers.has(provider.id)) return err(`providers: the id "${provider.id}" is there twice`)
    providers.set(provider.id, { provider, credential: key.value })
  }
  const clients: StandaloneClient[] = []
  for (const client of config.clients) {
    const token = await secret(client.token, `clients.${client.name}.token`, place)
    if (!token.ok) return token
    const problem = tokenProblem(token.value)
    if (problem !== null) return err(`clients.${client.name}.token: ${problem}`)
    if (clients.some((other) => other.name === client.name || other.token === token.value)) return err(`clients: "${client.name}" has the name or the token of another client`)
    const unknown = client.models.find(({ provider, model }) => providers.get(provider)?.provider.models.some(({ id }) => id === model) !== true)
    if (unknown !== undefined) return err(`clients.${client.name}.models: there is no model "${unknown.model}" at a provider "${unknown.provider}"`)
    if (new Set(client.models.map(({ model }) => model)).size !== client.models.length) return err(`clients.${client.name}.models: a model is there twice; requests could not be told apart`)
    clients.push({ ...client, token: token.value })
  }
  return ok({ port: config.port, directEnabled: config.directEnabled, warmEnabled, execEnabled, vendor: vendor === undefined ? null : { ...vendor, folders: [], hosts: [] }, providers, clients })
}

/** Why no request could go out to this provider as it is meant; null if it can. What is wrong with a secret is said without it. */
function providerProblem({ id, baseUrl, key, exchange }: StandaloneProvider, credential: string | null): string | null {
  for (const [where, url] of [['baseUrl', baseUrl], ['exchange.url', exchange?.url]] as const) {
    if (url !== undefined && hasUser(url)) return `providers.${id}.${where}: a user name or a password in an address is not sent. Leave it out, and name the key under "key"`
  }
  if (exchange !== undefined && key === undefined) return `providers.${id}.exchange: there is no "key" to exchange`
  if (credential === null) return null
  if (!gatewayGrantSchema.shape.credential.safeParse(credential).success) return `providers.${id}.key: at most 10000 characters are possible`
  // RFC 9110, 5.5, without what is not ASCII.
  return /^[\x20-\x7e]+$/.test(credential) ? null : `providers.${id}.key: it has characters that cannot be sent in a header, such as a line break`
}

/** Why no client could present this token; null if it can. */
function tokenProblem(token: string): string | null {
  if (token.length < 32) return 'at least 32 characters are needed'
  if (!gatewayGrantSchema.shape.token.safeParse(token).success) return 'at most 256 characters are possible'
  return presentable(token) ? null : 'only letters, digits and . _ ~ + / = - can be presented as a bearer token'
}

/** A secret from a variable of the environment, or from a file that only its owner can read. */
async function secret(source: { readonly env?: string | undefined; readonly file?: string | undefined }, where: string, { folder, env }: Place): Promise<Result<string, string>> {
  if ((source.env === undefined) === (source.file === undefined)) return err(`${where}: name either "env" or "file"`)
  if (source.env !== undefined) {
    const value = env[source.env]?.trim() ?? ''
    return value === '' ? err(`${where}: the variable ${source.env} is not set. Set it in the environment that countersign-proxy is started from, or name a {"file": PATH} instead`) : ok(value)
  }
  const path = isAbsolute(source.file ?? '') ? (source.file ?? '') : resolve(folder, source.file ?? '')
  const found = await stat(path).catch((error: unknown) => error as NodeJS.ErrnoException)
  if (found instanceof Error) return err(`${where}: ${path} cannot be read (${found.code ?? 'unknown'}). Paths are relative to the configuration’s folder`)
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) return err(`${where}: ${path} can be read by others (chmod 600)`)
  const value = (await readFile(path, 'utf8')).trim()
  return value === '' ? err(`${where}: ${path} is empty`) : ok(value)
}

function parse(text: string): Result<unknown, string> {
  try {
    return ok(JSON.parse(text) as unknown)
  } catch (error) {
    if (error instanceof SyntaxError) return err(`it is no JSON: ${error.message.slice(0, 200)}. Comments and trailing commas are not allowed`)
    throw error
  }
}
