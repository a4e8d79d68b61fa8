import type { RecoveryExit } from '../../../src-preload/contract/task.ts'

/** The exits from what is uncertain, as their buttons are called. */
export const exitNames: Readonly<Record<RecoveryExit, string>> = { 're-check': 'Re-check', 'mark-done': 'Mark done', 'mark-not-done': 'Mark not done', resend: 'Resend' }
