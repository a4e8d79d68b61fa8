import { Check, CircleDashed, LoaderCircle, Minus, X, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import type { EntryBody } from '../../../../src-preload/contract/rows.ts'
import type { FileChange, TestRun, Verification } from '../../../../src-preload/contract/task.ts'
import { translated } from '../../../i18n/language.ts'
import { t } from '../../../i18n/text.ts'
import { useOpen } from '../../../store/ui-store.ts'
import { Badge, type Tone } from '../../../ui/badge.tsx'
import { count, duration } from '../../../ui/format.ts'
import { Prose } from '../../../ui/markdown.tsx'
import { FailureNotice } from '../../../ui/notice.tsx'
import { Digest, ExactText, FoldButton, Path } from '../../../ui/pieces.tsx'

const filesShownMax = 8
const mib = 2 ** 20

/** What a result stands on: facts that the app recorded, apart from what the bot says about it. */
export function EvidenceRow({ rowKey, body }: { readonly rowKey: string; readonly body: EntryBody & { is: 'evidence' } }): ReactNode {
  const { evidence } = body
  const [all, setAll] = useOpen(rowKey, false)
  const shown = all ? evidence.files : evidence.files.slice(0, filesShownMax)
  return (
    <div className="sheet" role="group" aria-label={t.row.evidence}>
      <header className="sheet-head">
        <h2 className="sheet-title">{t.row.evidence}</h2>
        <span className="quiet small clip" title={t.row.evidenceHint}>{t.row.evidenceHint}</span>
      </header>
      <div className="sheet-body stack">
        {body.summary === '' ? null : <Prose text={body.summary} />}
        <ul className="files">
          {shown.map((file) => (
            <FileLine key={file.path} file={file} />
          ))}
        </ul>
        {evidence.files.length > filesShownMax ? (
          <FoldButton open={all} onToggle={setAll}>
            {t.word.files({ n: evidence.files.length })}
          </FoldButton>
        ) : null}
        {evidence.testRun === null ? <div className="warn">{t.row.noTest}</div> : <TestRunLine run={evidence.testRun} foldKey={`${rowKey} log`} />}
        <div className="digests">
          <DigestFact label={t.row.baseDigest} value={evidence.baseDigest} />
          <DigestFact label={t.row.diffDigest} value={evidence.diffDigest} />
          <DigestFact label={t.row.treeDigest} value={evidence.treeDigest} />
        </div>
      </div>
    </div>
  )
}

const fileSigns: Readonly<Record<FileChange['status'], readonly [string, string]>> = { added: ['A', 'good'], modified: ['M', 'warn'], deleted: ['D', 'bad'] }

/** One changed file: how it changed, its path, lines in and out. */
function FileLine({ file }: { readonly file: FileChange }): ReactNode {
  const [sign, tone] = fileSigns[file.status]
  return (
    <li className="file-line">
      <span className={`file-sign mono ${tone}`} title={translated(file.status)}>
        {sign}
      </span>
      <Path value={file.path} />
      <span className="file-counts">
        {file.binary ? <span className="quiet">{t.word.binary}</span> : null}
        {file.additions > 0 ? <span className="good">+{count(file.additions)}</span> : null}
        {file.deletions > 0 ? <span className="bad">−{count(file.deletions)}</span> : null}
      </span>
    </li>
  )
}

/** One run of a test command: what, with what outcome, how long, within which limits where they are recorded, and the end of its log. */
export function TestRunLine({ run, foldKey, initially = false }: { readonly run: TestRun; readonly foldKey: string; readonly initially?: boolean }): ReactNode {
  const [open, setOpen] = useOpen(foldKey, initially)
  const passed = run.exitCode === 0
  return (
    <div className="stack-tight test-run-box">
      <div className="test-run">
        <Badge tone={passed ? 'good' : 'bad'} square>
          {run.exitCode === null ? t.word.unknown : t.row.exit({ code: run.exitCode })}
        </Badge>
        <span className="mono test-command">
          <ExactText text={run.command} strictness="command" />
        </span>
        <span className="quiet small nowrap">{duration(run.durationMs)}</span>
        <span className="test-log">
          <FoldButton open={open} onToggle={setOpen}>
            {t.row.logDigest}
          </FoldButton>
          <Digest value={run.logDigest} />
        </span>
      </div>
      {run.limits === undefined ? null : <span className="quiet small">{t.row.runMost({ memory: run.limits.memoryBytesMax / mib, processes: run.limits.processesMax, minutes: run.limits.commandCpuMsMax / 60_000, file: run.limits.fileBytesMax / mib })}</span>}
      {open ? (
        <pre className="code code-tall" tabIndex={0} aria-label={t.row.logTail}>
          <ExactText text={run.logTail} strictness="prose" />
        </pre>
      ) : null}
    </div>
  )
}

/** A digest with the name of what it covers. */
export function DigestFact({ label, value }: { readonly label: string; readonly value: string }): ReactNode {
  return (
    <span className="digest-fact">
      <span className="quiet small">{label}</span>
      <Digest value={value} />
    </span>
  )
}

const verificationTones: Readonly<Record<'running' | 'passed' | 'failed', Tone>> = { running: 'neutral', passed: 'good', failed: 'bad' }

/** Bot A's own re-run in a clean copy, step by step. */
export function VerificationRow({ rowKey, body }: { readonly rowKey: string; readonly body: EntryBody & { is: 'verification' } }): ReactNode {
  return (
    <div className="sheet" role="group" aria-label={t.row.verification}>
      <header className="sheet-head">
        <h2 className="sheet-title">{t.row.verification}</h2>
        <Badge tone={verificationTones[body.state]}>{t.row.verificationStates[body.state]}</Badge>
        <span className="quiet small clip" title={t.row.verificationBy}>{t.row.verificationBy}</span>
      </header>
      <div className="sheet-body">
        <VerificationSteps verification={body.verification} running={body.state === 'running'} foldKey={rowKey} />
      </div>
    </div>
  )
}

type StepState = 'passed' | 'failed' | 'running' | 'not-reached' | 'none'
const stepIcons: Readonly<Record<StepState, LucideIcon>> = { passed: Check, failed: X, running: LoaderCircle, 'not-reached': CircleDashed, none: Minus }

/** The steps of a verification with their outcomes. `verification` null: it has not come back yet. */
export function VerificationSteps({ verification, running, foldKey }: { readonly verification: Verification | null; readonly running: boolean; readonly foldKey: string }): ReactNode {
  const run = (tests: TestRun | null): StepState => (tests === null ? 'not-reached' : tests.exitCode === 0 ? 'passed' : 'failed')
  const v = verification
  // Where it could not be carried out, nothing was compared.
  const compared = v !== null && v.failure === null
  return (
    <div className="stack">
      <ol className="steps">
        <Step state={v === null ? (running ? 'running' : 'not-reached') : compared ? 'passed' : 'failed'} label={t.row.stepCopy} />
        <Step state={!compared ? 'not-reached' : v.treeMatches ? 'passed' : 'failed'} label={compared && !v.treeMatches ? t.row.stepTreeBad : t.row.stepTree}>
          {compared ? <Digest value={v.treeDigest} /> : null}
        </Step>
        <Step state={v === null ? 'not-reached' : run(v.testRun)} label={t.row.stepTests}>
          {v?.testRun == null ? null : <TestRunLine run={v.testRun} foldKey={`${foldKey} tests`} />}
        </Step>
        <Step state={v === null ? 'not-reached' : v.oracle === null && v.passed ? 'none' : run(v.oracle)} label={v !== null && v.oracle === null && v.passed ? t.row.stepNoOracle : t.row.stepOracle}>
          {v?.oracle == null ? null : <TestRunLine run={v.oracle} foldKey={`${foldKey} oracle`} />}
        </Step>
      </ol>
      {v?.failure == null ? null : <FailureNotice failure={v.failure} />}
    </div>
  )
}

function Step({ state, label, children }: { readonly state: StepState; readonly label: string; readonly children?: ReactNode }): ReactNode {
  const Icon = stepIcons[state]
  return (
    <li className={`step step-${state}`}>
      <Icon className={`icon icon-small${state === 'running' ? ' spin' : ''}`} aria-hidden />
      <span className="step-label">
        {label}
        {state === 'not-reached' ? <span className="quiet"> · {t.row.stepNotReached}</span> : null}
      </span>
      <div className="step-detail">{children}</div>
    </li>
  )
}

const recommendationTones: Readonly<Record<'accept' | 'reject' | 'unsure', Tone>> = { accept: 'good', reject: 'bad', unsure: 'warn' }

/** What Bot A thinks of the evidence. Advice, never a decision. */
export function ReviewRow({ body }: { readonly body: EntryBody & { is: 'review' } }): ReactNode {
  return (
    <div className="stack">
      <Prose text={body.text} />
      <div className="line">
        <Badge tone={recommendationTones[body.recommendation]}>{t.row.recommendations[body.recommendation]}</Badge>
        <span className="quiet small">{t.row.onlyAdvice}</span>
      </div>
    </div>
  )
}
