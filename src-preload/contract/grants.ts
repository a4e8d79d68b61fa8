import { z } from 'zod'
import { approvalIdSchema, botSchema, digestSchema, grantIdSchema, millisSchema } from './ids.ts'

/**
 * What a standing grant covers: one command, byte for byte, in one directory; or edits of the files that a path pattern names. In a pattern
 * `*` stands for one name and `**` for any number of names, at least one; neither stands for a name that begins with a dot.
 */
export const grantScopeSchema = z.discriminatedUnion('tool', [
  z.object({ tool: z.literal('bash'), text: z.string(), cwd: z.string() }),
  z.object({ tool: z.literal('edit'), pattern: z.string() }),
])
export type GrantScope = z.infer<typeof grantScopeSchema>

/** One standing grant that an approval card offers beside the single approval. `forMs` null: until the task's deadline. The digest covers all of it, and the card's own digest. */
export const standingChoiceSchema = z.object({ scope: grantScopeSchema, forMs: z.number().int().min(1).nullable(), digest: digestSchema })
export type StandingChoice = z.infer<typeof standingChoiceSchema>

/** What a card offers: choices, or the reason why nothing but single approvals is possible. `explained`: what the parser read, in words. */
export const standingOfferSchema = z.object({ explained: z.string(), choices: z.array(standingChoiceSchema).max(8) })
export type StandingOffer = z.infer<typeof standingOfferSchema>

/** A standing grant as it is listed. Whether it has expired is a question of the clock: `expiresAt`. */
export const standingGrantSchema = z.object({
  grantId: grantIdSchema, bot: botSchema, scope: grantScopeSchema, explained: z.string(), digest: digestSchema, approvalId: approvalIdSchema,
  givenAt: millisSchema, expiresAt: millisSchema, uses: z.number().int().min(0), lastUsedAt: millisSchema.nullable(), revokedAt: millisSchema.nullable(),
  /** True while it can still be used as far as the task goes: neither revoked nor outlived by a stop or the task's end. */
  stands: z.boolean(),
})
export type StandingGrantView = z.infer<typeof standingGrantSchema>
