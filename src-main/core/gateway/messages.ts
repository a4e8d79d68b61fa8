import { z } from 'zod'
import { failureSchema } from '../../../src-preload/contract/failure.ts'
import { botSchema, callIdSchema, millisSchema, taskIdSchema } from '../../../src-preload/contract/ids.ts'
import { exchangeSchema } from '../../../src-preload/contract/settings.ts'
import { callWaitsSchema, servingPathSchema } from '../../../src-preload/contract/task.ts'
import { servingSchema, vendorOrderSchema, vendorWordSchema } from './vendor.ts'

/** What app and proxy process say to each other. Both ends parse; the parent port is the only way a credential enters the proxy. */

const callNumberSchema = z.number().int().min(0)
const apiSchema = z.enum(['chat', 'responses'])

/**
 * Where a grant's requests go, and as what. `credential` goes into the upstream's Authorization header and nowhere else; with `exchange`
 * it goes to that address instead, and what comes back is used. `fallback`: text-only calls may be served by the vendor's own program of this id.
 * `socketPath` null: only the loopback port.
 */
export const gatewayGrantSchema = z.object({
  grantId: z.string().min(1).max(128),
  taskId: taskIdSchema,
  bot: botSchema,
  token: z.string().min(32).max(256),
  socketPath: z.string().min(1).max(100).nullable(),
  target: z.object({ baseUrl: z.url({ protocol: /^https?$/ }), api: apiSchema, modelId: z.string().min(1).max(200), providerLabel: z.string().max(100), needsKey: z.boolean(), exchange: exchangeSchema.optional(), fallback: z.string().max(200).optional() }),
  credential: z.string().min(1).max(10_000).nullable(),
})
export type GatewayGrant = z.infer<typeof gatewayGrantSchema>

export const admissionSchema = z.discriminatedUnion('admit', [
  /** `outputTokensMax`: how many tokens of output were reserved: the stream is cut there, and with `outputWhole`, where that is all that was asked for, well beyond it. */
  z.object({ admit: z.literal(true), outputTokensMax: z.number().int().min(0).optional(), outputWhole: z.literal(true).optional() }),
  /** `again`: it could not be decided, and may be asked again at once. `passing`: it is refused for what other calls hold until they end, so this is not kept for its retries. */
  z.object({ admit: z.literal(false), code: z.string().min(1).max(100), message: z.string().max(2_000), again: z.literal(true).optional(), passing: z.literal(true).optional() }),
])

/** App → proxy. `firstCallNumber`: call numbers go up from it, so that none is used twice after a restart. */
export const toProxySchema = z.discriminatedUnion('is', [
  z.object({ is: z.literal('start'), preferredPort: z.number().int().min(0).max(65_535), firstCallNumber: callNumberSchema, serving: servingSchema }),
  z.object({ is: z.literal('configure'), serving: servingSchema }),
  z.object({ is: z.literal('vendor-word'), jobId: z.number().int(), word: vendorWordSchema }),
  z.object({ is: z.literal('grant'), grant: gatewayGrantSchema }),
  z.object({ is: z.literal('revoke'), grantId: z.string() }),
  z.object({ is: z.literal('admission'), callNumber: callNumberSchema, admission: admissionSchema }),
  z.object({ is: z.literal('stop') }),
])
export type ToProxy = z.infer<typeof toProxySchema>

const admissionAskSchema = z.object({ callNumber: callNumberSchema, taskId: taskIdSchema, bot: botSchema, model: z.string(), bodyBytes: z.number().int(), api: apiSchema, streams: z.boolean(), outputTokensAsked: z.number().int().min(0).nullable(), choices: z.number().int().min(1).optional() })
const tokensSchema = z.number().int().min(0).nullable()
const callEndSchema = z.object({
  callNumber: callNumberSchema, taskId: taskIdSchema, bot: botSchema, path: servingPathSchema, status: z.number().int().nullable(), modelAnswered: z.string().nullable(),
  inputTokens: tokensSchema, outputTokens: tokensSchema, latencyMs: z.number().min(0), failure: failureSchema.nullable(),
  /** It was refused, and the same request will be: trying again is of no use. */
  final: z.boolean(),
  /** A fallback was tried after the direct call may have reached its provider, which may charge that one as well. */
  directLeft: z.boolean().optional(),
  /** After how long the provider that refused wants to be asked again, where it says so. */
  retryAfterMs: z.number().min(0).optional(),
})
const callProgressSchema = z.object({ callNumber: callNumberSchema, taskId: taskIdSchema, bot: botSchema, waits: callWaitsSchema })
const previewSchema = z.object({
  taskId: taskIdSchema, sessionId: z.string().nullable(), callId: callIdSchema, tool: z.string().nullable(), argumentBytes: z.number().int().min(0), target: z.string().nullable(),
  tail: z.string(), tailOf: z.string().nullable(), contentLines: z.number().int().nullable(), before: z.string().nullable(), fields: z.array(z.object({ name: z.string(), value: z.string() })).readonly(), idUsedTwice: z.boolean(), state: z.enum(['growing', 'complete', 'interrupted']), seenAt: millisSchema,
})

/** Proxy → app. */
export const fromProxySchema = z.discriminatedUnion('is', [
  z.object({ is: z.literal('ready'), port: z.number().int().nullable(), note: z.string().nullable() }),
  z.object({ is: z.literal('granted'), grantId: z.string(), failure: failureSchema.nullable() }),
  z.object({ is: z.literal('admission-ask'), ask: admissionAskSchema }),
  z.object({ is: z.literal('call-progress'), progress: callProgressSchema }),
  z.object({ is: z.literal('call-ended'), end: callEndSchema }),
  z.object({ is: z.literal('preview'), preview: previewSchema }),
  /** `vendorId`: the program that it is meant for; another one is not to be run. */
  z.object({ is: z.literal('vendor-ask'), jobId: z.number().int(), order: vendorOrderSchema, vendorId: z.string() }),
  z.object({ is: z.literal('vendor-stop'), jobId: z.number().int() }),
  z.object({ is: z.literal('log'), level: z.enum(['info', 'warn', 'error']), message: z.string() }),
])
export type FromProxy = z.infer<typeof fromProxySchema>

/** App → demo provider. `holdMs`: how long it holds the arguments of a write half-way. */
export const toDemoSchema = z.discriminatedUnion('is', [z.object({ is: z.literal('start'), holdMs: z.number().int().min(0).max(600_000), preferredPort: z.number().int().min(0).max(65_535) }), z.object({ is: z.literal('stop') })])
export type ToDemo = z.infer<typeof toDemoSchema>

/** Demo provider → app. */
export const fromDemoSchema = z.object({ is: z.literal('ready'), port: z.number().int() })
export type FromDemo = z.infer<typeof fromDemoSchema>
