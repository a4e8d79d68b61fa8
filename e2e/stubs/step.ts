/** What the scripted provider does with one request. */
export type Step = CallStep | TextStep | { readonly is: 'hang' } | { readonly is: 'status'; readonly status: number; readonly message: string; readonly retryAfterS?: number } | { readonly is: 'nonsense' }

/** A tool call, its arguments streamed in small deltas. */
export interface CallStep {
  readonly is: 'call'
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  /** Words before the call. */
  readonly text?: string
  /** Stops half-way through the arguments: for that long, or until `release` of the provider when it is 'until-released', or dies there. */
  readonly half?: { readonly forMs: number } | 'until-released' | 'dies'
  /** A second call of the same reply under the same id, as some gateways send it, or under `id`; chat only. */
  readonly twin?: { readonly tool: string; readonly input: Readonly<Record<string, unknown>>; readonly id?: string }
  /** Before the reply begins, as a model thinks; without it there is no wait. */
  readonly thinksMs?: number
  /** Between two pieces of the arguments; without it they follow as fast as they go. */
  readonly paceMs?: number
}

export interface TextStep {
  readonly is: 'text'
  readonly text: string
  /** The connection breaks half-way through the text. */
  readonly dies?: true
  /** The model that says it answered; else the one that was asked. */
  readonly model?: string
}

/** OpenCode's tools, as the coder calls them. Paths are of the sandbox. */
export const does = {
  write: (filePath: string, content: string, more: Pick<CallStep, 'text' | 'half' | 'paceMs' | 'thinksMs'> = {}): CallStep => ({ is: 'call', tool: 'write', input: { filePath, content }, ...more }),
  bash: (command: string, description = 'Run a command', more: Pick<CallStep, 'half' | 'twin'> = {}): CallStep => ({ is: 'call', tool: 'bash', input: { command, description }, ...more }),
  edit: (filePath: string, oldString: string, newString: string, more: Pick<CallStep, 'half'> = {}): CallStep => ({ is: 'call', tool: 'edit', input: { filePath, oldString, newString }, ...more }),
  grep: (pattern: string, more: Pick<CallStep, 'half'> = {}): CallStep => ({ is: 'call', tool: 'grep', input: { pattern, include: '*.ts', path: '/workspace' }, ...more }),
  read: (filePath: string): CallStep => ({ is: 'call', tool: 'read', input: { filePath } }),
  question: (question: string, options: readonly string[]): CallStep =>
    ({ is: 'call', tool: 'question', input: { questions: [{ question, header: question.slice(0, 28), options: options.map((label) => ({ label, description: label })) }] } }),
  say: (text: string, more: Pick<TextStep, 'model'> = {}): TextStep => ({ is: 'text', text, ...more }),
} as const

/** What a reply needs for the wire. */
export interface Dressed {
  readonly id: string
  readonly model: string
  readonly text: string
  readonly call: { readonly id: string; readonly tool: string; readonly json: string } | null
}
