/** What OpenCode's server says, parsed tolerantly: fields that we do not need are dropped, kinds that we do not know are named, nothing throws. */
import { z } from 'zod'

const record = z.record(z.string(), z.unknown())
const shortText = z.string().max(4_096)
/** OpenCode's own ids; ours are made of them and must stay short and plain. */
export const wireId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/)
const id = wireId

const toolStateSchema = z.discriminatedUnion('status', [
  z.object({ status: z.literal('pending') }),
  z.object({ status: z.literal('running'), input: record, title: z.string().optional(), metadata: record.optional() }),
  z.object({ status: z.literal('completed'), input: record, output: z.string(), title: z.string().optional(), metadata: record.optional() }),
  z.object({ status: z.literal('error'), input: record, error: z.string(), metadata: record.optional() }),
])

const partIds = { id, sessionID: id, messageID: id }
/** Tool and call id are the vendor's words: refusing one for its length would hide a call that runs. */
const partSchemas = {
  text: z.object({ ...partIds, type: z.literal('text'), text: z.string(), synthetic: z.boolean().optional(), ignored: z.boolean().optional(), time: z.object({ end: z.number().optional() }).optional() }),
  reasoning: z.object({ ...partIds, type: z.literal('reasoning'), text: z.string(), time: z.object({ end: z.number().optional() }).optional() }),
  tool: z.object({ ...partIds, type: z.literal('tool'), tool: z.string(), callID: z.string(), state: toolStateSchema }),
} as const
export type WireTextPart = z.infer<typeof partSchemas.text>
export type WireReasoningPart = z.infer<typeof partSchemas.reasoning>
export type WireToolPart = z.infer<typeof partSchemas.tool>
export type WirePart = WireTextPart | WireReasoningPart | WireToolPart

export const errorSchema = z.object({
  name: z.string(),
  data: z.object({ message: z.string().optional(), statusCode: z.number().optional(), responseBody: z.string().optional() }).optional(),
})
export type WireError = z.infer<typeof errorSchema>

const messageInfoSchema = z.object({
  id, sessionID: id, role: z.enum(['user', 'assistant']), agent: z.string().optional(),
  parentID: id.optional(), finish: shortText.optional(), error: errorSchema.optional(),
  time: z.object({ created: z.number(), completed: z.number().optional() }),
})
export type WireMessageInfo = z.infer<typeof messageInfoSchema>
export interface WireMessage { readonly info: WireMessageInfo; readonly parts: readonly WirePart[] }

const sessionInfoSchema = z.object({ id, title: z.string(), parentID: id.optional(), time: z.object({ created: z.number(), updated: z.number() }) })

const statusSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('idle') }),
  z.object({ type: z.literal('busy') }),
  z.object({ type: z.literal('retry'), attempt: z.number(), message: z.string(), next: z.number() }),
])
export type WireStatus = z.infer<typeof statusSchema>

const toolReference = z.object({ messageID: id, callID: z.string() })
const permissionSchema = z.object({ id, sessionID: id, permission: shortText, patterns: z.array(z.string()), metadata: record, tool: toolReference.optional() })
export type WirePermission = z.infer<typeof permissionSchema>

const questionSchema = z.object({
  id, sessionID: id, tool: toolReference.optional(),
  questions: z.array(z.object({ question: z.string(), header: z.string().optional(), options: z.array(z.object({ label: z.string() })).optional(), multiple: z.boolean().optional() })).min(1),
})
export type WireQuestion = z.infer<typeof questionSchema>

/** The kinds of events that mean something to us. `kind` is ours, the key OpenCode's. */
const eventSchemas = {
  'server.connected': z.unknown().transform(() => ({ kind: 'connected' as const })),
  'server.heartbeat': z.unknown().transform(() => ({ kind: 'heartbeat' as const })),
  'session.created': z.object({ info: sessionInfoSchema }).transform(({ info }) => ({ kind: 'session' as const, info })),
  'session.updated': z.object({ info: sessionInfoSchema }).transform(({ info }) => ({ kind: 'session' as const, info })),
  'session.status': z.object({ sessionID: id, status: statusSchema }).transform(({ sessionID, status }) => ({ kind: 'status' as const, sessionID, status })),
  'session.idle': z.object({ sessionID: id }).transform(({ sessionID }) => ({ kind: 'status' as const, sessionID, status: { type: 'idle' as const } })),
  'session.error': z.object({ sessionID: id.optional(), error: errorSchema.optional() }).transform(({ sessionID, error }) => ({ kind: 'session-error' as const, sessionID: sessionID ?? null, error: error ?? null })),
  'message.updated': z.object({ info: messageInfoSchema }).transform(({ info }) => ({ kind: 'message' as const, info })),
  'message.part.updated': z.object({ part: z.unknown() }).transform(({ part }) => ({ kind: 'part' as const, part: parsePart(part) })),
  'message.part.delta': z.object({ sessionID: id, messageID: id, partID: id, field: z.string(), delta: z.string() }).transform((delta) => ({ kind: 'delta' as const, ...delta })),
  'permission.asked': permissionSchema.transform((ask) => ({ kind: 'permission-asked' as const, ask })),
  'permission.replied': z.object({ sessionID: id, requestID: id, reply: z.string().regex(/^[a-z]{1,20}$/) }).transform((replied) => ({ kind: 'permission-replied' as const, ...replied })),
  'question.asked': questionSchema.transform((ask) => ({ kind: 'question-asked' as const, ask })),
} as const
type EventSchemas = typeof eventSchemas
export type WireEvent = { [K in keyof EventSchemas]: z.infer<EventSchemas[K]> }[keyof EventSchemas]

/** `id` is OpenCode's event id, or null where it gave none. */
export type ParsedEvent = { readonly is: 'known'; readonly id: string | null; readonly event: WireEvent } | { readonly is: 'unknown'; readonly type: string } | { readonly is: 'malformed'; readonly type: string; readonly issue: string }

const frameSchema = z.object({ id: id.optional(), type: z.string().max(256), properties: z.unknown() })

/** Parses one event of the stream, as JSON already. Never throws. */
export function parseEvent(raw: unknown): ParsedEvent {
  const frame = frameSchema.safeParse(raw)
  if (!frame.success) return { is: 'malformed', type: '(frame)', issue: issueOf(frame.error) }
  const { type } = frame.data
  if (!isKnownType(type)) return { is: 'unknown', type }
  const event = eventSchemas[type].safeParse(frame.data.properties)
  return event.success ? { is: 'known', id: frame.data.id ?? null, event: event.data } : { is: 'malformed', type, issue: issueOf(event.error) }
}

function isKnownType(type: string): type is keyof EventSchemas {
  return Object.hasOwn(eventSchemas, type)
}

/** A part that we follow, or null for every other kind and for a malformed one. */
export function parsePart(raw: unknown): WirePart | null {
  const type = z.object({ type: z.string() }).safeParse(raw)
  if (!type.success || !Object.hasOwn(partSchemas, type.data.type)) return null
  const part = partSchemas[type.data.type as keyof typeof partSchemas].safeParse(raw)
  return part.success ? part.data : null
}

const messageSchema = z.object({ info: messageInfoSchema, parts: z.array(z.unknown()) })
  .transform(({ info, parts }) => ({ info, parts: parts.map(parsePart).filter((part) => part !== null) }))

/** Bodies of the routes that we read. A body that does not parse is refused as a whole: state is never read from half an answer. */
export const bodies = {
  messages: z.array(messageSchema),
  sessions: z.array(sessionInfoSchema),
  session: sessionInfoSchema,
  statuses: z.record(z.string(), statusSchema),
  permissions: z.array(permissionSchema),
  questions: z.array(questionSchema),
  health: z.object({ healthy: z.literal(true), version: z.string() }),
  config: z.object({ provider: z.record(z.string(), z.object({ name: z.string().optional() })) }),
  /** What `opencode export` prints, and `opencode session list --format json`. */
  exported: z.object({ info: z.object({ id }), messages: z.array(messageSchema) }),
  listed: z.array(z.object({ id, title: z.string(), updated: z.number() })),
  syncHistory: z.array(z.object({ type: z.string(), data: z.object({ info: z.object({ id: z.string(), sessionID: z.string().optional() }).optional() }) })),
} as const

function issueOf(error: z.ZodError): string {
  const issue = error.issues[0]
  return issue === undefined ? 'unknown' : `${issue.path.join('.')}: ${issue.message}`.slice(0, 200)
}
