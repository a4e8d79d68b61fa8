import { z } from 'zod'
import { failureSchema } from '../../../src-preload/contract/failure.ts'
import { digestOfText } from '../digest.ts'

/** What a fallback wants of the vendor's program: to serve, or to answer one prompt and end. */
export const vendorOrderSchema = z.discriminatedUnion('is', [z.object({ is: z.literal('serve') }), z.object({ is: z.literal('exec'), prompt: z.string() })])
export type VendorOrder = z.infer<typeof vendorOrderSchema>

/** Where a serving program is reached: a Unix socket of the host (sandboxed), or a loopback port (plain). */
const vendorAddressSchema = z.discriminatedUnion('is', [z.object({ is: z.literal('socket'), socketPath: z.string().min(1) }), z.object({ is: z.literal('port'), port: z.number().int().min(1).max(65_535) })])
export type VendorAddress = z.infer<typeof vendorAddressSchema>

/**
 * What becomes of an order. `up`: the program runs and is reached there, once it listens. `ended`: it is gone; `text` is what an exec
 * printed, `failure` why it did not run or was ended from outside.
 */
export const vendorWordSchema = z.discriminatedUnion('is', [
  z.object({ is: z.literal('up'), address: vendorAddressSchema }),
  z.object({ is: z.literal('ended'), exitCode: z.number().int().nullable(), text: z.string(), failure: failureSchema.nullable() }),
])
export type VendorWord = z.infer<typeof vendorWordSchema>

/** What the proxy may do, as the owner set it. It is sent at the start and after each change. `vendorId`: another one means another program or other arguments. */
export const servingSchema = z.object({ directEnabled: z.boolean(), warmEnabled: z.boolean(), execEnabled: z.boolean(), vendorLabel: z.string().max(100), vendorId: z.string().max(200) })
export type ServingRules = z.infer<typeof servingSchema>

/** Names a vendor's program as it is set; '' where none is. Any change of it is another program. */
export function vendorIdOf(vendor: object | null | undefined): string {
  return vendor == null ? '' : digestOfText(JSON.stringify(vendor))
}

/** What holds where the owner has set nothing: direct only. */
export const directOnly: ServingRules = { directEnabled: true, warmEnabled: false, execEnabled: false, vendorLabel: '', vendorId: '' }
