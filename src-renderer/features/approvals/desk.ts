import { createContext, useCallback, useContext, useSyncExternalStore } from 'react'
import type { Failure } from '../../../src-preload/contract/failure.ts'
import type { Digest } from '../../../src-preload/contract/ids.ts'
import type { HoldRow } from '../../../src-preload/contract/rows.ts'
import { call, newCommandId } from '../../bridge.ts'
import type { RowStore } from '../../store/row-store.ts'
import { amountFromText, defaultAmount, type BadAmount } from './raise-amount.ts'
import { graceLeftMs, startGrace, stepGrace, type CardIdentity, type GraceEvent, type GraceState, type Ignored, type PressBy, type Verdict } from './input-grace.ts'

/** What became of the answer to one card. */
export type AnswerState = { readonly at: 'sending'; readonly verdict: Verdict } | { readonly at: 'recorded'; readonly verdict: Verdict } | { readonly at: 'failed'; readonly failure: Failure }

export interface DeskState {
  /** Key of the card that can be answered; null when none waits. */
  readonly frontKey: string | null
  /** True once the grace of the front card is over. */
  readonly open: boolean
  readonly grace: GraceState
  readonly answers: ReadonlyMap<string, AnswerState>
  /** Why the last input did not count; for a word to the owner. */
  readonly ignored: Ignored | null
  /** What the owner typed as the amount of a card; null where nothing was typed. */
  readonly typed: { readonly approvalId: string; readonly text: string } | null
}

/**
 * Where approvals are given. Holds the one grace state of the window and sends decisions; the card in front is the oldest
 * hold that waits, and stays in front until it no longer waits, whatever else arrives.
 */
export class ApprovalDesk {
  readonly #rows: RowStore
  readonly #now: () => number
  #state: DeskState = { frontKey: null, open: false, grace: startGrace(), answers: new Map(), ignored: null, typed: null }
  readonly #listeners = new Set<() => void>()
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(rows: RowStore, now: () => number = Date.now) {
    this.#rows = rows
    this.#now = now
  }

  /** Follows the holds and the window's focus until the returned function is called. */
  start(): () => void {
    const stopRows = this.#rows.subscribeHolds(() => {
      this.#follow()
    })
    const left = (): void => {
      this.#step({ is: 'window-left' })
    }
    const activated = (): void => {
      this.#step({ is: 'window-activated', atMs: this.#now() })
    }
    window.addEventListener('blur', left)
    window.addEventListener('focus', activated)
    // A click on an inactive window activates it, also where the focus event comes late or never.
    window.addEventListener('pointerdown', activated, true)
    this.#follow()
    return () => {
      stopRows()
      window.removeEventListener('blur', left)
      window.removeEventListener('focus', activated)
      window.removeEventListener('pointerdown', activated, true)
      if (this.#timer !== null) clearTimeout(this.#timer)
    }
  }

  readonly snapshot = (): DeskState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** A button of a card was pressed. */
  press(on: CardIdentity, verdict: Verdict, by: PressBy, standing: Digest | null = null): void {
    if (this.#cannotApprove(verdict)) return
    this.#step({ is: 'pressed', on, verdict, standing, by, atMs: this.#now() })
  }

  /** The front card now offers something else to press: the grace begins anew. */
  offered(): void {
    this.#step({ is: 'offer', atMs: this.#now() })
  }

  /** The owner typed an amount into a card. What approving does has changed, so the grace begins anew. */
  typed(approvalId: string, text: string): void {
    this.#become({ typed: { approvalId, text } })
    this.offered()
  }

  /** What approving this card grants: the typed amount or the suggested one, or why the typed one cannot be used; null where nothing is to be chosen. */
  amountOf(row: HoldRow): number | BadAmount | null {
    if (row.raise === undefined) return null
    const { typed } = this.#state
    return typed?.approvalId === row.approvalId ? amountFromText(row.raise, typed.text) : defaultAmount(row.raise)
  }

  /** The key combination that approves or denies was pressed. */
  chord(verdict: Verdict, repeat: boolean): void {
    if (this.#cannotApprove(verdict)) return
    this.#step({ is: 'chord', verdict, repeat, atMs: this.#now() })
  }

  /** Drops half a chord. */
  disarm(): void {
    this.#step({ is: 'disarm' })
  }

  #cannotApprove(verdict: Verdict): boolean {
    const row = this.#rows.hold(this.#state.frontKey ?? '')
    return verdict === 'approved' && row !== undefined && (row.denyOnly !== undefined || typeof this.amountOf(row) === 'string')
  }

  #follow(): void {
    const waiting = this.#rows.waitingHoldKeys().map((key) => this.#rows.hold(key)).filter((row): row is HoldRow => row !== undefined && row.holdKind !== 'acceptance')
    const front = waiting.find((row) => row.key === this.#state.frontKey) ?? waiting[0] ?? null
    this.#state = { ...this.#state, frontKey: front?.key ?? null }
    this.#step({ is: 'front', front: front === null ? null : { approvalId: front.approvalId, digest: front.digest }, shown: front !== null && front.shownAt !== null, atMs: this.#now() })
  }

  #step(event: GraceEvent): void {
    const step = stepGrace(this.#state.grace, event)
    const left = graceLeftMs(step.state, this.#now())
    const ignored = step.outcome.is === 'ignored' ? step.outcome.why : event.is === 'front' && step.state !== this.#state.grace ? null : this.#state.ignored
    this.#become({ grace: step.state, open: step.state.front !== null && left === 0, ignored: step.outcome.is === 'decide' || step.outcome.is === 'armed' ? null : ignored })
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (step.state.front !== null && left !== null && left > 0) this.#timer = setTimeout(() => { this.#become({ open: true, ignored: null }) }, left)
    if (step.outcome.is === 'decide') void this.#send(step.outcome.on, step.outcome.verdict, step.outcome.standing as Digest | null)
  }

  async #send(on: CardIdentity, verdict: Verdict, standing: Digest | null): Promise<void> {
    this.#answer(on, { at: 'sending', verdict })
    const key = this.#state.frontKey
    const row = key === null ? undefined : this.#rows.hold(key)
    if (row?.approvalId !== on.approvalId) return
    const amount = this.amountOf(row)
    const result = await call('approval.decide', { commandId: newCommandId(), approvalId: row.approvalId, digest: row.digest, verdict, reason: null, standing, amount: verdict === 'approved' && typeof amount === 'number' ? amount : null })
    if (result.ok) {
      this.#answer(on, { at: 'recorded', verdict })
      return
    }
    this.#answer(on, { at: 'failed', failure: result.error })
    this.#step({ is: 'answer-failed', approvalId: on.approvalId })
  }

  #answer(on: CardIdentity, answer: AnswerState): void {
    this.#become({ answers: new Map(this.#state.answers).set(on.approvalId, answer) })
  }

  #become(change: Partial<DeskState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of [...this.#listeners]) listener()
  }
}

/** The desk for every component below it. */
export const DeskContext = createContext<ApprovalDesk | null>(null)

/** The desk. @throws outside of `DeskContext` */
export function useDesk(): ApprovalDesk {
  const desk = useContext(DeskContext)
  if (desk === null) throw new Error('No approval desk above this component')
  return desk
}

/** The desk's state; redraws on every change of it. */
export function useDeskState(): DeskState {
  const desk = useDesk()
  return useSyncExternalStore(useCallback((listener: () => void) => desk.subscribe(listener), [desk]), desk.snapshot)
}
