import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { keepPresses } from './kept-presses.ts'

/** As much of an element as a press needs; its presses go through the page, as real ones do. */
class FakeElement extends EventTarget {
  isConnected = true
  readonly said: string[]
  readonly name: string
  constructor(name: string, said: string[]) { super(); this.name = name; this.said = said }
  closest(): this { return this }
  click(): void { happen('click', this) }
}
class FakeKey extends Event {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey = false
  constructor(type: string, { key = '', ctrlKey = false }: { readonly key?: string; readonly ctrlKey?: boolean } = {}) { super(type); this.key = key; this.ctrlKey = ctrlKey }
}

let page: EventTarget
function happen(type: string, on: EventTarget, event = new Event(type)): void {
  Object.defineProperty(event, 'target', { value: on })
  page.dispatchEvent(event)
}

describe('presses on a page whose code is not there yet', () => {
  let answered: string[]
  let run: FakeElement
  let settings: FakeElement
  const press = (on: FakeElement): void => { for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']) happen(type, on) }

  beforeEach(() => {
    vi.useFakeTimers()
    vi.stubGlobal('Element', FakeElement)
    vi.stubGlobal('KeyboardEvent', FakeKey)
    page = new EventTarget()
    answered = []
    run = new FakeElement('run', answered)
    settings = new FakeElement('settings', answered)
  })
  afterEach(() => { vi.useRealTimers(); vi.unstubAllGlobals() })

  /** The window's own listener, which comes after what keeps. */
  function keep(): ReturnType<typeof keepPresses> {
    const presses = keepPresses(page)
    for (const kind of ['pointerdown', 'click', 'keydown']) page.addEventListener(kind, (event) => { answered.push(`${kind} ${(event.target as FakeElement).name}`) })
    return presses
  }

  it('are carried out once each, in their order, when the window answers', () => {
    const presses = keep()
    press(settings)
    press(run)
    press(run)
    vi.runAllTimers()
    expect(answered).toEqual([])
    presses.handOver()
    expect(answered).toEqual(['click settings', 'click run'])
  })

  it('end with what was pressed last, though it was pressed before', () => {
    const presses = keep()
    for (const button of [settings, run, settings]) press(button)
    vi.runAllTimers()
    presses.handOver()
    expect(answered).toEqual(['click run', 'click settings'])
  })

  it('are the window\'s own from then on', () => {
    const presses = keep()
    presses.handOver()
    press(run)
    expect(answered).toEqual(['pointerdown run', 'click run'])
  })

  it('that are half done at the hand-over are waited for, and done once', () => {
    const presses = keep()
    happen('pointerdown', run)
    presses.handOver()
    expect(answered).toEqual([])
    for (const type of ['pointerup', 'mouseup', 'click']) happen(type, run)
    vi.runAllTimers()
    expect(answered).toEqual(['click run'])
  })

  it('that end beside the button do nothing, and hold nothing up', () => {
    const presses = keep()
    happen('pointerdown', run)
    happen('pointercancel', run)
    presses.handOver()
    vi.runAllTimers()
    press(settings)
    expect(answered).toEqual(['pointerdown settings', 'click settings'])
  })

  it('of a button that is gone are dropped', () => {
    const presses = keep()
    press(run)
    vi.runAllTimers()
    run.isConnected = false
    presses.handOver()
    expect(answered).toEqual([])
  })

  it('of key combinations are carried out, and those of single keys are left to the page', () => {
    const heard = vi.fn()
    const presses = keep()
    run.addEventListener('keydown', (event) => { heard('key' in event ? event.key : null) })
    happen('keydown', run, new FakeKey('keydown', { key: 'n', ctrlKey: true }))
    happen('keydown', run, new FakeKey('keydown', { key: 'a' }))
    presses.handOver()
    expect(heard.mock.calls).toEqual([['n']])
  })
})
