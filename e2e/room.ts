import { expect, type Locator, type Page } from '@playwright/test'
import type { HoldRow } from '../src-preload/contract/rows.ts'

type HoldKind = HoldRow['holdKind']

/** A budget card's button says what approving grants: `Approve 8 turns`, `Approve $5.00`. */
const approveName = /^Approve( [\d$].*)?$/

/** What the owner does in the room and sees there, by role and name as anybody would. */
export class Room {
  readonly window: Page

  constructor(window: Page) {
    this.window = window
  }

  /** The one header of the shown task. */
  get header(): Locator {
    return this.window.locator('header[data-status]')
  }

  get transcript(): Locator {
    return this.window.getByRole('log', { name: 'Room transcript' })
  }

  get approvals(): Locator {
    return this.window.getByRole('region', { name: 'Approvals' })
  }

  /** What the task's header says when an effect may or may not have happened, with the exits. */
  get uncertain(): Locator {
    return this.window.locator('[data-recovery="uncertain"]')
  }

  /** Tool rows, of one tool or of one call. */
  tools(by: { readonly tool?: string; readonly callId?: string } = {}): Locator {
    const attributes = [by.tool === undefined ? '' : `[data-tool="${by.tool}"]`, by.callId === undefined ? '' : `[data-call-id="${by.callId}"]`]
    return this.transcript.locator(`[data-call-id]${attributes.join('')}`)
  }

  /** The hold of that kind that waits in front. */
  hold(kind: HoldKind): Locator {
    return this.approvals.locator(`section[data-approval-id][data-hold-kind="${kind}"]`)
  }

  async runSample(): Promise<void> {
    await this.window.getByRole('button', { name: 'Run the sample task' }).click()
    // A busy machine may need several tries to learn the coder's version.
    await expect(this.header).toBeVisible({ timeout: 60_000 })
  }

  async hasStatus(status: string, timeout = 60_000): Promise<void> {
    await expect(this.header, `the task becomes ${status}`).toHaveAttribute('data-status', status, { timeout })
  }

  /** Of a script that does not solve its task: each check fails, and once the turns are used up the owner denies more and gets the result as it is. */
  async endsUnverified(timeout = 60_000): Promise<void> {
    await expect(this.hold('budget'), 'more turns are asked for').toContainText('turns', { timeout })
    await this.deny('budget')
    await this.hasStatus('result-ready')
  }

  /** Approves the hold of that kind once it takes input, and sees it leave. */
  async approve(kind: HoldKind, timeout = 60_000): Promise<void> {
    await this.#decide(kind, 'Approve', timeout)
  }

  async deny(kind: HoldKind, timeout = 60_000): Promise<void> {
    await this.#decide(kind, 'Deny', timeout)
  }

  async #decide(kind: HoldKind, button: 'Approve' | 'Deny', timeout: number): Promise<void> {
    const card = this.hold(kind)
    await expect(card, `a hold for ${kind}`).toBeVisible({ timeout })
    const id = await card.getAttribute('data-approval-id')
    await card.getByRole('button', { name: button === 'Approve' ? approveName : button, exact: true }).click()
    await expect(this.approvals.locator(`section[data-approval-id="${id}"]`)).toHaveCount(0)
  }

  /** Answers the question that Bot A left to the owner. */
  async answer(text: string, timeout = 60_000): Promise<void> {
    const box = this.transcript.getByRole('textbox', { name: 'Your answer' })
    await box.waitFor({ timeout })
    await box.fill(text)
    await this.transcript.getByRole('button', { name: 'Send answer' }).click()
  }

  /** Writes the brief in Bot A's place. */
  async writeBrief(goal: string, testCommand: string): Promise<void> {
    await this.header.getByRole('button', { name: 'More' }).click()
    await this.window.getByRole('menuitem', { name: 'Write the brief yourself' }).click()
    const dialog = this.window.getByRole('dialog', { name: 'Write the brief yourself' })
    await dialog.getByRole('textbox', { name: 'Goal' }).fill(goal)
    await dialog.getByRole('textbox', { name: 'Test command' }).fill(testCommand)
    await dialog.getByRole('button', { name: 'Propose this brief' }).click()
    await expect(dialog).toBeHidden()
  }

  async stop(): Promise<void> {
    await this.header.getByRole('button', { name: 'Stop task' }).click()
  }

  /** Goes to Review, where the result is decided, unless it is on screen. */
  async openReview(): Promise<void> {
    const accept = this.window.getByRole('button', { name: 'Accept result' })
    const review = this.window.getByRole('button', { name: 'Review', exact: true })
    // Review itself shows neither until its diff is read, so the question which screen this is waits for one of them.
    await expect(accept.or(review).first()).toBeVisible()
    if (await accept.isVisible()) return
    await review.click()
    await expect(accept).toBeVisible()
  }

  async acceptResult(): Promise<void> {
    await this.openReview()
    await this.window.getByRole('button', { name: 'Accept result' }).click()
  }

  /** Ends a task whose turn is uncertain. */
  async markNotDone(): Promise<void> {
    await this.uncertain.getByRole('button', { name: 'Mark not done', exact: true }).click()
    await this.window.getByRole('dialog', { name: 'Mark this turn as not done?' }).getByRole('button', { name: 'Mark not done', exact: true }).click()
  }

  async rejectResult(reason: string): Promise<void> {
    await this.openReview()
    await this.window.getByRole('button', { name: 'Reject result' }).click()
    const dialog = this.window.getByRole('dialog')
    await dialog.getByRole('textbox').fill(reason)
    await dialog.getByRole('button', { name: /^Reject/ }).click()
  }

  /** An evidence level in the inspector: whether it was reached, and how. */
  async level(name: 'offlineMock' | 'realProcess' | 'realModel' | 'humanAcceptance'): Promise<{ readonly reached: boolean; readonly how: string }> {
    const level = this.window.getByRole('complementary', { name: 'Inspector' }).locator(`[data-level="${name}"]`)
    return { reached: await level.getAttribute('data-reached') === 'true', how: (await level.innerText()).replaceAll('\n', ' ') }
  }

  /** Kinds of the transcript's rows in the order in which they stand there. */
  async rowKinds(): Promise<readonly string[]> {
    const classes = await this.transcript.locator('article.entry').evaluateAll((rows) => rows.map((row) => [...row.classList]))
    return classes.map((names) => names.map((name) => /^entry-(?!quiet$|goes-on$)(.+)$/.exec(name)?.[1]).find((kind) => kind !== undefined) ?? '')
  }

  /** Tool rows that have not reached their one last state. */
  get spinning(): Locator {
    return this.transcript.locator(['preview', 'awaiting-approval', 'running'].map((state) => `[data-call-id][data-state="${state}"]`).join(', '))
  }
}
