import type { Row } from '../matrix.ts'
import { approval } from './approval.ts'
import { complete } from './complete.ts'
import { delivery } from './delivery.ts'
import { identity } from './identity.ts'
import { parallel } from './parallel.ts'
import { privateData } from './private-data.ts'

/** The collaboration matrix, in the order in which it is printed. */
export const rows: readonly Row[] = [complete, parallel, identity, privateData, approval, delivery]
