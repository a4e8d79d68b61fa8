import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { armedForMs, chordGapMinMs, graceLeftMs, startGrace, stepGrace, type CardIdentity, type GraceEvent, type GraceOutcome, type GraceState } from './input-grace.ts'

const first: CardIdentity = { approvalId: 'a-1', digest: 'd-1' }
const second: CardIdentity = { approvalId: 'a-2', digest: 'd-2' }

function run(events: readonly GraceEvent[], from: GraceState = startGrace()): { state: GraceState; outcomes: GraceOutcome[] } {
  let state = from
  const outcomes = events.map((event) => {
    const step = stepGrace(state, event)
    state = step.state
    return step.outcome
  })
  return { state, outcomes }
}
const last = (events: readonly GraceEvent[]): GraceOutcome | undefined => run(events).outcomes.at(-1)
const click = (on: CardIdentity, atMs: number, verdict: 'approved' | 'denied' = 'approved'): GraceEvent => ({ is: 'pressed', on, verdict, standing: null, by: 'pointer', atMs })
const front = (card: CardIdentity | null, atMs: number, shown = true): GraceEvent => ({ is: 'front', front: card, shown, atMs })
const chord = (atMs: number, verdict: 'approved' | 'denied' = 'approved', repeat = false): GraceEvent => ({ is: 'chord', verdict, atMs, repeat })

describe('input grace', () => {
  it('takes a click once the grace is over', () => {
    expect(last([front(first, 0), click(first, 600)])).toEqual({ is: 'decide', on: first, verdict: 'approved', standing: null })
  })

  it('ignores a click within 600 ms of a new front card', () => {
    expect(last([front(first, 0), click(first, 599)])).toEqual({ is: 'ignored', why: 'in-grace' })
  })

  it('takes nothing before main has the card on record as shown, nor sooner after that than a person', () => {
    const drawn = [front(first, 0, false)]
    expect(last([...drawn, click(first, 9_000)])).toEqual({ is: 'ignored', why: 'in-grace' })
    expect(graceLeftMs(run(drawn).state, 9_000)).toBeNull()
    const recorded = [...drawn, front(first, 1_000)]
    expect(last([...recorded, click(first, 1_299)])).toEqual({ is: 'ignored', why: 'in-grace' })
    expect(last([...recorded, front(first, 1_200), click(first, 1_300)])).toMatchObject({ is: 'decide' })
  })

  it('starts again when the bytes of the card change under the same id', () => {
    expect(last([front(first, 0), front({ ...first, digest: 'd-9' }, 5_000), click({ ...first, digest: 'd-9' }, 5_100)])).toEqual({ is: 'ignored', why: 'in-grace' })
  })

  it('does not start again when the same card is announced again', () => {
    expect(graceLeftMs(run([front(first, 0), front({ ...first }, 500)]).state, 600)).toBe(0)
  })

  it('lets a double click answer one card, never the next', () => {
    const { outcomes } = run([front(first, 0), click(first, 1_000), front(second, 1_050), click(second, 1_120)])
    expect(outcomes.filter((outcome) => outcome.is === 'decide')).toEqual([{ is: 'decide', on: first, verdict: 'approved', standing: null }])
  })

  it('answers a card once, until its answer came back as a failure', () => {
    expect(last([front(first, 0), click(first, 700), click(first, 900)])).toEqual({ is: 'ignored', why: 'already-answered' })
    expect(last([front(first, 0), click(first, 700), { is: 'answer-failed', approvalId: 'a-1' }, click(first, 900)])).toMatchObject({ is: 'decide' })
  })

  it('refuses a press that was meant for a card that is no longer in front', () => {
    expect(last([front(first, 0), front(second, 1_000), click(first, 2_000)])).toEqual({ is: 'ignored', why: 'not-front' })
  })

  it('swallows the click that activates the window, whichever event comes first', () => {
    expect(last([front(first, 0), { is: 'window-left' }, { is: 'window-activated', atMs: 9_000 }, click(first, 9_020)])).toEqual({ is: 'ignored', why: 'window-was-inactive' })
    expect(last([front(first, 0), { is: 'window-left' }, click(first, 9_000)])).toEqual({ is: 'ignored', why: 'window-was-inactive' })
    expect(last([front(first, 0), { is: 'window-left' }, { is: 'window-activated', atMs: 9_000 }, click(first, 9_600)])).toMatchObject({ is: 'decide' })
  })

  it('never approves by Enter or Space on the button alone; the chord must follow', () => {
    const enter: GraceEvent = { is: 'pressed', on: first, verdict: 'approved', standing: null, by: 'keyboard', atMs: 1_000 }
    expect(last([front(first, 0), enter, { ...enter, atMs: 2_000 }])).toEqual({ is: 'armed', verdict: 'approved' })
    expect(last([front(first, 0), enter, chord(1_500)])).toMatchObject({ is: 'decide' })
  })

  it('gives a standing grant only by its own button: a press of it, or an armed press and the chord', () => {
    const standing: GraceEvent = { is: 'pressed', on: first, verdict: 'approved', standing: 'sha256:1', by: 'pointer', atMs: 1_000 }
    expect(last([front(first, 0), standing])).toEqual({ is: 'decide', on: first, verdict: 'approved', standing: 'sha256:1' })
    expect(last([front(first, 0), { ...standing, by: 'keyboard' }, chord(1_500)])).toEqual({ is: 'decide', on: first, verdict: 'approved', standing: 'sha256:1' })
    expect(last([front(first, 0), chord(1_000), chord(1_500)])).toEqual({ is: 'decide', on: first, verdict: 'approved', standing: null })
  })

  it('begins its grace anew, and forgets half a chord, when the card offers something else to press', () => {
    const offer: GraceEvent = { is: 'offer', atMs: 1_000 }
    expect(last([front(first, 0), offer, click(first, 1_599)])).toEqual({ is: 'ignored', why: 'in-grace' })
    expect(last([front(first, 0), offer, click(first, 1_600)])).toMatchObject({ is: 'decide' })
    expect(last([front(first, 0), chord(900), offer, chord(1_700)])).toEqual({ is: 'armed', verdict: 'approved' })
  })

  it('needs the chord twice, neither too fast nor too late, and not by a key that is held down', () => {
    expect(last([front(first, 0), chord(1_000), chord(1_400)])).toMatchObject({ is: 'decide', verdict: 'approved' })
    expect(last([front(first, 0), chord(1_000), chord(1_000 + chordGapMinMs - 1)])).toEqual({ is: 'ignored', why: 'too-fast' })
    expect(last([front(first, 0), chord(1_000), chord(1_001 + armedForMs)])).toEqual({ is: 'armed', verdict: 'approved' })
    expect(last([front(first, 0), chord(1_000), chord(1_400, 'approved', true)])).toEqual({ is: 'ignored', why: 'key-repeat' })
    expect(last([front(first, 0), chord(1_000), chord(1_400, 'denied')])).toEqual({ is: 'armed', verdict: 'denied' })
  })

  it('forgets half a chord when the card changes or the window is left', () => {
    expect(last([front(first, 0), chord(1_000), front(second, 1_100), chord(2_000)])).toEqual({ is: 'armed', verdict: 'approved' })
    expect(last([front(first, 0), chord(1_000), { is: 'window-left' }, { is: 'window-activated', atMs: 1_200 }, chord(2_000)])).toEqual({ is: 'armed', verdict: 'approved' })
  })

  it('decides only on the front card, after its grace, and at most once, whatever happens', () => {
    const card = fc.constantFrom(first, second)
    const verdict = fc.constantFrom('approved' as const, 'denied' as const)
    const kinds = fc.oneof(
      card.map((value) => ({ is: 'front' as const, front: value })),
      fc.constant({ is: 'window-left' as const }),
      fc.constant({ is: 'window-activated' as const }),
      fc.record({ is: fc.constant('pressed' as const), on: card, verdict, standing: fc.constant(null), by: fc.constantFrom('pointer' as const, 'keyboard' as const) }),
      fc.record({ is: fc.constant('chord' as const), verdict, repeat: fc.boolean() }),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(kinds, fc.integer({ min: 0, max: 900 })), { maxLength: 60 }), (steps) => {
        let now = 0
        let state = startGrace()
        let frontSince = -Infinity
        const decided = new Set<string>()
        for (const [kind, pause] of steps) {
          now += pause
          const before = state.front
          const step = stepGrace(state, { ...kind, atMs: now } as GraceEvent)
          state = step.state
          if (state.front?.approvalId !== before?.approvalId) frontSince = now
          if (step.outcome.is !== 'decide') continue
          expect(step.outcome.on).toEqual(before)
          expect(now - frontSince).toBeGreaterThanOrEqual(600)
          expect(decided.has(step.outcome.on.approvalId)).toBe(false)
          decided.add(step.outcome.on.approvalId)
        }
      }),
    )
  })
})
