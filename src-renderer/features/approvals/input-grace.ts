import { limits } from '../../../src-preload/contract/limits.ts'

export type Verdict = 'approved' | 'denied'

/** What identifies a card: a decision names both, so that it can never reach another hold or other bytes. */
export interface CardIdentity {
  readonly approvalId: string
  readonly digest: string
}

/** How a press came about. Whatever did not come from a pointer counts as the keyboard: it can arm, and no more. */
export type PressBy = 'pointer' | 'keyboard'

export interface GraceState {
  /** The card that can be answered; null when none waits. */
  readonly front: CardIdentity | null
  /** Since when main has it on record that the front card was shown; null: not yet, and it would refuse any answer. */
  readonly shownSinceMs: number | null
  /** Moment before which no input on the card counts, and why. */
  readonly openAtMs: number
  readonly because: 'card-changed' | 'window-activated'
  /** False while another window is in front. */
  readonly windowActive: boolean
  /** Set by the first half of the keyboard chord; the second half must come within `armedForMs`. */
  readonly armed: Armed | null
  /** Cards that were answered and whose answer has not come back as a failure. */
  readonly answered: ReadonlySet<string>
}

/** Half a keyboard approval. `standing`: the digest of the standing grant that would be given with it. */
export interface Armed { readonly verdict: Verdict; readonly standing: string | null; readonly atMs: number }

export type GraceEvent =
  | { readonly is: 'front'; readonly front: CardIdentity | null; readonly shown: boolean; readonly atMs: number }
  /** What the front card offers to press is another than before. */
  | { readonly is: 'offer'; readonly atMs: number }
  | { readonly is: 'window-left' }
  | { readonly is: 'window-activated'; readonly atMs: number }
  | { readonly is: 'pressed'; readonly on: CardIdentity; readonly verdict: Verdict; readonly standing: string | null; readonly by: PressBy; readonly atMs: number }
  | { readonly is: 'chord'; readonly verdict: Verdict; readonly atMs: number; readonly repeat: boolean }
  | { readonly is: 'answer-failed'; readonly approvalId: string }
  | { readonly is: 'disarm' }

/** Why an input did not count. */
export type Ignored = 'no-card' | 'not-front' | 'in-grace' | 'window-was-inactive' | 'already-answered' | 'key-repeat' | 'too-fast'

export type GraceOutcome =
  | { readonly is: 'nothing' }
  | { readonly is: 'decide'; readonly on: CardIdentity; readonly verdict: Verdict; readonly standing: string | null }
  | { readonly is: 'armed'; readonly verdict: Verdict }
  | { readonly is: 'ignored'; readonly why: Ignored }

export interface GraceStep {
  readonly state: GraceState
  readonly outcome: GraceOutcome
}

/** How long the first half of a chord waits for the second. */
export const armedForMs = 5_000
/** Two halves closer together than this are one slip of the hand. */
export const chordGapMinMs = 150

/** Where it starts: no card, window in front. */
export function startGrace(): GraceState {
  return { front: null, shownSinceMs: null, openAtMs: 0, because: 'card-changed', windowActive: true, armed: null, answered: new Set() }
}

/**
 * Decides which input on the approval tray counts. Pure; the clock is handed in.
 *
 * G1. After any change of the front card, or of what it offers to press, nothing counts for `limits.inputGraceMs`. G2. The click that activates the window
 * never counts. G3. A card is answered once. G4. Enter and Space on a focused button only arm; a chord is needed on top.
 * G5. Nothing counts that main would refuse as not shown, or as faster than a person.
 */
export function stepGrace(state: GraceState, event: GraceEvent): GraceStep {
  switch (event.is) {
    case 'front':
      if (!same(state.front, event.front)) return nothing({ ...state, front: event.front, shownSinceMs: event.shown ? event.atMs : null, openAtMs: event.atMs + limits.inputGraceMs, because: 'card-changed', armed: null })
      return event.shown && state.shownSinceMs === null ? nothing({ ...state, shownSinceMs: event.atMs }) : nothing(state)
    case 'offer':
      return nothing({ ...state, openAtMs: Math.max(state.openAtMs, event.atMs + limits.inputGraceMs), because: 'card-changed', armed: null })
    case 'window-left':
      return nothing({ ...state, windowActive: false, armed: null })
    case 'window-activated':
      return state.windowActive ? nothing(state) : nothing({ ...state, windowActive: true, ...later(state, event.atMs + limits.inputGraceMs) })
    case 'pressed':
      return press(state, event)
    case 'chord':
      return chord(state, event)
    case 'answer-failed': {
      const answered = new Set(state.answered)
      answered.delete(event.approvalId)
      return nothing({ ...state, answered })
    }
    case 'disarm':
      return nothing(state.armed === null ? state : { ...state, armed: null })
  }
}

/** Milliseconds until the front card takes input; 0 when it does, null while main has not recorded it as shown. */
export function graceLeftMs(state: GraceState, nowMs: number): number | null {
  return state.front !== null && state.shownSinceMs === null ? null : Math.max(0, opensAtMs(state) - nowMs)
}

function opensAtMs(state: GraceState): number {
  return Math.max(state.openAtMs, (state.shownSinceMs ?? 0) + limits.humanDecisionMs)
}

function press(state: GraceState, event: GraceEvent & { is: 'pressed' }): GraceStep {
  const why = closedFor(state, event.atMs) ?? (same(state.front, event.on) ? null : 'not-front')
  if (why !== null) return ignored(state, why)
  if (event.by === 'keyboard' && event.verdict === 'approved') return arm(state, { verdict: event.verdict, standing: event.standing, atMs: event.atMs })
  return decide(state, event.verdict, event.standing)
}

function chord(state: GraceState, event: GraceEvent & { is: 'chord' }): GraceStep {
  const why = event.repeat ? 'key-repeat' : closedFor(state, event.atMs)
  if (why !== null) return ignored(state, why)
  const armed = state.armed
  if (armed?.verdict !== event.verdict || event.atMs - armed.atMs > armedForMs) return arm(state, { verdict: event.verdict, standing: null, atMs: event.atMs })
  return event.atMs - armed.atMs < chordGapMinMs ? ignored(state, 'too-fast') : decide(state, event.verdict, armed.standing)
}

function closedFor(state: GraceState, atMs: number): Ignored | null {
  if (state.front === null) return 'no-card'
  if (state.answered.has(state.front.approvalId)) return 'already-answered'
  if (!state.windowActive) return 'window-was-inactive'
  if (graceLeftMs(state, atMs) === 0) return null
  return state.because === 'window-activated' ? 'window-was-inactive' : 'in-grace'
}

function arm(state: GraceState, armed: Armed): GraceStep {
  return { state: { ...state, armed }, outcome: { is: 'armed', verdict: armed.verdict } }
}

function decide(state: GraceState, verdict: Verdict, standing: string | null): GraceStep {
  if (state.front === null) return ignored(state, 'no-card')
  return { state: { ...state, armed: null, answered: new Set(state.answered).add(state.front.approvalId) }, outcome: { is: 'decide', on: state.front, verdict, standing } }
}

function later(state: GraceState, openAtMs: number): Pick<GraceState, 'openAtMs' | 'because'> {
  return openAtMs > state.openAtMs ? { openAtMs, because: 'window-activated' } : { openAtMs: state.openAtMs, because: state.because }
}

function same(a: CardIdentity | null, b: CardIdentity | null): boolean {
  return a === b || (a !== null && b !== null && a.approvalId === b.approvalId && a.digest === b.digest)
}

function nothing(state: GraceState): GraceStep {
  return { state, outcome: { is: 'nothing' } }
}

function ignored(state: GraceState, why: Ignored): GraceStep {
  return { state, outcome: { is: 'ignored', why } }
}
