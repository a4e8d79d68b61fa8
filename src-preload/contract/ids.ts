import { z } from 'zod'

const id = (): z.ZodString => z.string().min(1).max(128).regex(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/)

/** Milliseconds since the Unix epoch, wall clock. */
export const millisSchema = z.number().int().min(0).max(8.64e15)
export type Millis = z.infer<typeof millisSchema>

export const taskIdSchema = id().brand<'TaskId'>()
export type TaskId = z.infer<typeof taskIdSchema>

export const turnIdSchema = id().brand<'TurnId'>()
export type TurnId = z.infer<typeof turnIdSchema>

export const approvalIdSchema = id().brand<'ApprovalId'>()
export type ApprovalId = z.infer<typeof approvalIdSchema>

export const grantIdSchema = id().brand<'GrantId'>()
export type GrantId = z.infer<typeof grantIdSchema>

/** Minted by whoever gives a command, at the click; makes the command idempotent. */
export const commandIdSchema = id().brand<'CommandId'>()
export type CommandId = z.infer<typeof commandIdSchema>

export const questionIdSchema = id().brand<'QuestionId'>()
export type QuestionId = z.infer<typeof questionIdSchema>

/** A tool call's id as the model's vendor gave it; the row's identity from the first byte to the final record. */
export const callIdSchema = z.string().min(1).max(256).brand<'CallId'>()
export type CallId = z.infer<typeof callIdSchema>

/** SHA-256 as `sha256:` and 64 lower-case hex digits. */
export const digestSchema = z.string().regex(/^sha256:[0-9a-f]{64}$/).brand<'Digest'>()
export type Digest = z.infer<typeof digestSchema>

/** The two bots. They are two principals: separate grants, tokens, approvals and attribution. */
export const botSchema = z.enum(['lead', 'coder'])
export type Bot = z.infer<typeof botSchema>

/** Whoever can appear as the author of a row. `host` is the app itself. */
export const authorSchema = z.enum(['owner', 'lead', 'coder', 'host'])
export type Author = z.infer<typeof authorSchema>

/** Cancellation counter of a task, owned by the host. */
export const generationSchema = z.number().int().min(1).max(1_000_000)
export type Generation = z.infer<typeof generationSchema>
