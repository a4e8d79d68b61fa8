import type { Row } from '../matrix.ts'
import { approval } from './approval.ts'
import { bounds } from './bounds.ts'
import { capability } from './capability.ts'
import { complete } from './complete.ts'
import { completion } from './completion.ts'
import { delivery } from './delivery.ts'
import { directApproval, directCapability, directComplete, directDelivery, directIdentity, directParallel, directPrivate } from './direct.ts'
import { identity } from './identity.ts'
import { parallel } from './parallel.ts'
import { privateData } from './private-data.ts'
import { stop } from './stop.ts'

/** The collaboration matrix, in the order in which it is printed. */
export const rows: readonly Row[] = [
  complete, directComplete, parallel, directParallel, identity, directIdentity, privateData, directPrivate, approval, directApproval, delivery, directDelivery, stop, completion, bounds, capability, directCapability,
]
