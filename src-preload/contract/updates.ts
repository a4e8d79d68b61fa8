import { z } from 'zod'
import { millisSchema } from './ids.ts'

/** What is known of newer versions of the app. `waitsFor`: why a verified version is not installed yet, in words; null: it goes in with the next quit. */
export const updateStateSchema = z.discriminatedUnion('is', [
  z.object({ is: z.literal('unsupported'), why: z.string() }),
  z.object({ is: z.literal('idle') }),
  z.object({ is: z.literal('checking') }),
  z.object({ is: z.literal('current'), checkedAt: millisSchema }),
  z.object({ is: z.literal('found'), version: z.string() }),
  z.object({ is: z.literal('downloading'), version: z.string(), share: z.number().min(0).max(1) }),
  z.object({ is: z.literal('ready'), version: z.string(), waitsFor: z.string().nullable() }),
  z.object({ is: z.literal('failed'), message: z.string(), at: millisSchema }),
])
export type UpdateState = z.infer<typeof updateStateSchema>
