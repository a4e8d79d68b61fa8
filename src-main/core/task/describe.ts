import type { TaskEvent } from './events.ts'
import { exitNames } from './exit-names.ts'

type Words = { readonly [K in TaskEvent['type']]: (event: Extract<TaskEvent, { type: K }>) => string }

const short = (digest: string): string => digest.slice(7, 19)

/** What each kind of event says in one line, for the Audit screen. Complete by type: a new event needs its words. */
const words: Words = {
  'task-opened': (event) => `${event.title} · ${event.source.kind === 'folder' ? event.source.path : 'sample'}${event.runtime === 'opencode-run' ? ' · Bot B as OpenCode CLI' : ''}`,
  'workspace-prepared': (event) => `${event.files} files, ${event.bytes} bytes, base ${short(event.baseDigest)}`,
  'hold-opened': ({ hold }) => `${hold.kind}: ${hold.title} · ${hold.exact.text}`,
  'hold-shown': (event) => event.approvalId,
  'hold-alarmed': (event) => `${event.approvalId} was not shown in time`,
  'hold-settled': (event) => `${event.outcome}${event.cause === null ? '' : `: ${event.cause}`} · ${event.approvalId}`,
  'lead-asked': (event) => event.purpose,
  'lead-failed': (event) => `${event.purpose}: ${event.failure.message}`,
  'brief-proposed': (event) => `version ${event.inputVersion} by ${event.by}: ${event.brief.goal}`,
  'brief-approved': (event) => `version ${event.inputVersion}, input ${short(event.inputDigest)}`,
  'claimed': () => 'Bot B may begin',
  'envelope-posted': (event) => `${event.kind} from ${event.from}, number ${event.seq} · ${short(event.digest)}`,
  'coder-start-intended': (event) => event.sessionTitle,
  'coder-started': (event) => `OpenCode ${event.version}, process ${event.pid} · ${event.isolation.summary}`,
  'session-bound': (event) => event.sessionId,
  'turn-intended': (event) => `${event.kind} · ${event.messageId}`,
  'turn-found-absent': (event) => event.turnId,
  'turn-submitted': (event) => event.turnId,
  'turn-ended': (event) => `${event.outcome}${event.failure === null ? '' : `: ${event.failure.message}`}${event.text === '' ? '' : ` · ${event.text}`}`,
  'message-said': (event) => `${event.author}: ${event.text}`,
  'tool-started': (event) => `${event.tool}${event.target === null ? '' : ` ${event.target}`} · ${event.inputBytes} bytes · ${event.callId}`,
  'tool-ended': (event) => `${event.tool} ${event.state}${event.exitCode === null ? '' : `, exit ${event.exitCode}`} · ${event.callId}`,
  'permission-ruled': (event) => (event.ruling === 'granted' ? `granted by ${event.by}: ${event.text}` : `denied by ${event.by}: ${event.text}`),
  'grant-given': ({ grant }) => `${grant.scope.tool === 'bash' ? grant.scope.text : grant.scope.pattern} · until ${new Date(grant.expiresAt).toISOString()} · ${grant.grantId}`,
  'grant-revoked': (event) => event.grantId,
  'answer-undelivered': (event) => `${event.permissionId}: ${event.failure.message}`,
  'command-ran': (event) => `${event.refused === null ? `exit ${event.exitCode ?? 'none'}` : `refused: ${event.refused}`} · ${event.text}`,
  'question-asked': (event) => event.text,
  'question-passed-to-owner': (event) => event.why,
  'question-answered': (event) => `${event.by}: ${event.text}`,
  'question-closed': (event) => event.how,
  'call-reserved': (event) => `call ${event.call} of ${event.bot} to ${event.model}, ${event.tokens} tokens reserved`,
  'call-settled': (event) => `call ${event.call} ${event.path}, status ${event.status ?? 'none'}, ${event.inputTokens ?? 'unknown'} in, ${event.outputTokens ?? 'unknown'} out${event.directLeft === true ? ', the direct call before it may have left too' : ''}${event.failure === null ? '' : ` · ${event.failure.message}`}`,
  'call-lost': (event) => `call ${event.call}`,
  'budget-raised': (event) => `${event.budget.requestsMax} requests, ${event.budget.tokensMax} tokens${event.acceptsUnknown ? ', unknown cost accepted' : ''}`,
  'call-refused': (event) => `${event.bot}: ${event.message}`,
  'evidence-recorded': (event) => `${event.evidence.files.length} files changed, tests ${event.evidence.testRun === null ? 'not run' : `exit ${event.evidence.testRun.exitCode ?? 'none'}`}, tree ${short(event.evidence.treeDigest)}`,
  'verification-started': () => 'in a clean copy',
  'verification-ended': ({ verification }) => `${verification.passed ? 'passed' : 'did not pass'}, tests exit ${verification.testRun?.exitCode ?? 'none'}, held tests ${verification.oracle === null ? 'none' : `exit ${verification.oracle.exitCode ?? 'none'}`}`,
  'review-said': (event) => `${event.recommendation}: ${event.text}`,
  'result-became-ready': (event) => `${event.verified ? 'verified' : 'not verified'}, tree ${short(event.treeDigest)}`,
  'apply-intended': (event) => `tree ${short(event.treeDigest)}`,
  'apply-refused': (event) => event.failure.message,
  'accepted': (event) => `tree ${short(event.treeDigest)} · ${event.detail}`,
  'rejected': (event) => event.reason ?? 'no reason given',
  'revision-requested': (event) => event.requirement,
  'cancel-requested': (event) => `generation ${event.generation}: ${event.cause}`,
  'cancel-observed': (event) => event.proof.detail,
  'coder-gone': (event) => `${event.how}${event.proof === null ? '' : ` · ${event.proof.detail}`}`,
  'task-cancelled': () => 'nothing more runs',
  'task-failed': (event) => event.failure.message,
  'recovery-needed': (event) => event.what,
  'recovery-resolved': (event) => `${exitNames[event.exit]}: ${event.detail}`,
  'workspace-disposed': () => 'a snapshot of the changes is kept',
  'noted': (event) => event.text,
}

/** One event in words, unbounded and never empty. Null for a type that this app does not know. */
export function describeEvent(event: { readonly type: string }): string | null {
  if (!Object.hasOwn(words, event.type)) return null
  const said = (words[event.type as TaskEvent['type']] as (event: unknown) => string)(event)
  return said.trim() === '' ? event.type : said
}
