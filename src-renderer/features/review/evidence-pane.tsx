import type { ReactNode } from 'react'
import type { Review } from '../../../src-preload/contract/methods.ts'
import { t } from '../../i18n/text.ts'
import { Badge } from '../../ui/badge.tsx'
import { Prose } from '../../ui/markdown.tsx'
import { DigestFact, TestRunLine, VerificationSteps } from '../room/rows/evidence-row.tsx'

/** What the result stands on: Bot A's own re-run, the coder's last test run, the review, and the digests. */
export function EvidencePane({ review }: { readonly review: Review }): ReactNode {
  const { evidence, verification } = review
  return (
    <div className="evidence-pane" tabIndex={0} role="region" aria-label={t.row.evidence}>
      <section>
        <h2 className="section-title">
          {t.row.verification}
          {verification === null ? null : (
            <Badge tone={verification.passed ? 'good' : 'bad'} square>
              {verification.passed ? t.row.verificationStates.passed : t.row.verificationStates.failed}
            </Badge>
          )}
        </h2>
        <p className="quiet small">{t.row.verificationBy}</p>
        <VerificationSteps verification={verification} running={false} foldKey="review" />
      </section>
      <section>
        <h2 className="section-title">{t.review.coderTests}</h2>
        <p className="quiet small">{t.row.evidenceHint}</p>
        {evidence.testRun === null ? <p className="warn">{t.row.noTest}</p> : <TestRunLine run={evidence.testRun} foldKey="review coder" initially />}
      </section>
      {review.reviewText === null ? null : (
        <section>
          <h2 className="section-title">{t.row.review}</h2>
          <Prose text={review.reviewText} />
          <p className="quiet small">{t.row.onlyAdvice}</p>
        </section>
      )}
      <section>
        <h2 className="section-title">{t.inspector.digests}</h2>
        <div className="digest-column">
          <DigestFact label={t.row.baseDigest} value={evidence.baseDigest} />
          <DigestFact label={t.row.diffDigest} value={evidence.diffDigest} />
          <DigestFact label={t.row.treeDigest} value={evidence.treeDigest} />
        </div>
      </section>
    </div>
  )
}
