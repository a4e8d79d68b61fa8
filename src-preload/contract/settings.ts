import { z } from 'zod'
import { defaultSandboxLimits } from './limits.ts'
import { budgetLimitsSchema, coderRuntimeSchema, modelRefSchema, sandboxLimitsSchema, taskGrantSchema } from './task.ts'

const modelSchema = z.object({
  id: z.string().min(1).max(200), label: z.string().max(200).optional(),
  contextTokens: z.number().int().min(1_000).max(10_000_000).optional(), outputTokens: z.number().int().min(100).max(1_000_000).optional(),
  /** Price in micro-USD per million tokens, and the day it was read (YYYY-MM-DD). Absent: unknown. */
  price: z.object({ inputMicroUsd: z.number().int().min(0), outputMicroUsd: z.number().int().min(0), asOf: z.string().regex(/^\d{4}-\d{2}-\d{2}$/) }).optional(),
})

/**
 * How the stored credential becomes the short-lived token that the provider takes. `bearer`: it is sent as a bearer token and a token
 * comes back; `client-credentials`: RFC 6749, 4.4, with the credential as client secret; `token-exchange`: RFC 8693, as subject token.
 * `lifeSeconds`: how long a token lives where the answer does not say so.
 */
export const exchangeSchema = z.object({
  url: z.url({ protocol: /^https?$/ }).max(2_000), how: z.enum(['bearer', 'client-credentials', 'token-exchange']), method: z.enum(['POST', 'GET']).optional(),
  clientId: z.string().min(1).max(500).optional(), scope: z.string().min(1).max(1_000).optional(), audience: z.string().min(1).max(1_000).optional(), lifeSeconds: z.number().int().min(30).max(86_400).optional(),
})
export type CredentialExchange = z.infer<typeof exchangeSchema>

/** An OpenAI-compatible provider. `keyEnv` names an environment variable of the app that holds the key (never passed on). */
export const providerSchema = z.object({
  id: z.string().min(1).max(64).regex(/^[a-z0-9][a-z0-9-]*$/), label: z.string().min(1).max(100),
  baseUrl: z.url({ protocol: /^https?$/ }).max(2_000), api: z.enum(['chat', 'responses']), models: z.array(modelSchema).min(1).max(200), keyEnv: z.string().min(1).max(200).optional(), exchange: exchangeSchema.optional(),
})
export type Provider = z.infer<typeof providerSchema>

/** The file that COUNTERSIGN_PROVIDERS names: a list of providers. */
export const providersFileSchema = z.array(providerSchema).max(50)

/**
 * The vendor's own program for the fallbacks. `program`: absolute path. In the arguments `{port}` stands for the port that it must listen on
 * and `{promptFile}` for the file that holds the prompt. `homeFolder`: where it is logged in (its HOME, the only folder it can write to; null:
 * one of the app's own, empty at first). `folders`: what else of this machine it may read, at the same path. `hosts`: `host` or `host:port`
 * that it may reach; nothing else is.
 */
export const vendorCliSchema = z.object({
  label: z.string().min(1).max(100), program: z.string().min(1).max(4_096).regex(/^\//),
  serveArgs: z.array(z.string().max(1_000)).max(50), execArgs: z.array(z.string().max(1_000)).max(50),
  homeFolder: z.string().min(1).max(4_096).regex(/^\//).nullable(), folders: z.array(z.string().min(1).max(4_096).regex(/^\//)).max(20),
  hosts: z.array(z.string().min(1).max(260).regex(/^[A-Za-z0-9.-]+(:\d{1,5})?$/)).max(20),
})
export type VendorCli = z.infer<typeof vendorCliSchema>

export const settingsSchema = z.object({
  version: z.literal(1),
  providers: z.array(providerSchema).max(50),
  defaults: z.object({ lead: modelRefSchema.nullable(), coder: modelRefSchema.nullable(), budget: budgetLimitsSchema, grant: taskGrantSchema, runtime: coderRuntimeSchema.optional() }),
  appearance: z.object({ theme: z.enum(['system', 'light', 'dark']), density: z.enum(['comfortable', 'compact']), /** Absent: the system's. */ language: z.enum(['system', 'en', 'de']).optional() }),
  /** How the owner is told that something waits while the window is not in front. */
  attention: z.object({ notify: z.boolean(), badge: z.boolean(), tray: z.boolean() }).default({ notify: true, badge: true, tray: true }),
  openCodeBinary: z.string().max(4_096).nullable(),
  fallbacks: z.object({ directEnabled: z.boolean(), warmEnabled: z.boolean(), execEnabled: z.boolean(), vendor: vendorCliSchema.optional() }),
  updates: z.enum(['off', 'notify', 'automatic']),
  /** What a sandbox may use. Holds from the next start of a coder on; one that runs keeps what its cards name. */
  sandboxLimits: sandboxLimitsSchema.default(defaultSandboxLimits),
  workspaceQuotaBytes: z.number().int().min(64 * 1024 * 1024),
})
export type Settings = z.infer<typeof settingsSchema>

/** Provider as the window sees it: without its key, with what is known of the key. */
export const providerViewSchema = z.object({
  provider: providerSchema,
  origin: z.enum(['built-in-demo', 'settings', 'environment']),
  key: z.enum(['none-needed', 'stored', 'session-only', 'from-environment', 'missing']),
  remote: z.boolean(),
})
export type ProviderView = z.infer<typeof providerViewSchema>
