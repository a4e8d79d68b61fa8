import { describe, expect, it, vi } from 'vitest'
import { ColouredLines, tailLines, type LinesToColour } from './coloured-lines.ts'

describe('the lines of a growing text', () => {
  it.each([
    ['', 0, { from: 0, whole: [], open: '' }],
    ['a', 1, { from: 0, whole: [], open: 'a' }],
    ['a\n', 1, { from: 0, whole: ['a'], open: '' }],
    ['a\nb', 2, { from: 0, whole: ['a'], open: 'b' }],
    ['ut of many\nx\ny', 1_204, { from: 1_201, whole: ['ut of many', 'x'], open: 'y' }],
  ])('%j of %i lines', (tail, lines, expected) => {
    expect(tailLines(tail, lines)).toEqual(expected)
  })
})

describe('their colours', () => {
  class FakeWorker {
    readonly got: LinesToColour[] = []
    onmessage: ((event: { data: unknown }) => void) | null = null
    onerror: ((event: { message: string }) => void) | null = null
    ended = false
    postMessage(message: LinesToColour | { end: string }): void { if ('lines' in message) this.got.push(message) }
    terminate(): void { this.ended = true }
    answer(stream: string, from: number, texts: readonly string[]): void { this.onmessage?.({ data: { stream, from, lines: texts.map((text) => [{ text, light: '#000', dark: '#fff' }]) } }) }
  }
  const open = () => {
    const workers: FakeWorker[] = []
    const colours = new ColouredLines(() => { const worker = new FakeWorker(); workers.push(worker); return worker as unknown as Worker })
    return { colours, workers }
  }

  it('are asked for once a line, in order, however the tail grows', () => {
    const { colours, workers } = open()
    const text = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n')
    for (let end = 0; end <= text.length; end += 7) { const seen = text.slice(0, end); colours.ask('a', 'a.ts', tailLines(seen.slice(-120), seen === '' ? 0 : seen.split('\n').length - (seen.endsWith('\n') ? 1 : 0))) }
    const asked = workers[0]!.got.flatMap(({ from, lines }) => lines.map((line, index) => [from + index, line] as const))
    expect(asked).toEqual(Array.from({ length: asked.length }, (_, index) => [index, `line ${index}`]))
    expect(asked.length).toBeGreaterThan(30)
  })

  it('go on behind a gap, and hold what is near the end only', () => {
    const { colours, workers } = open()
    colours.ask('a', 'a.ts', { from: 0, whole: ['x'], open: '' })
    colours.ask('a', 'a.ts', { from: 500, whole: ['y', 'z'], open: '' })
    expect(workers[0]!.got.map(({ from, lines }) => [from, lines])).toEqual([[0, ['x']], [500, ['y', 'z']]])
    workers[0]!.answer('a', 0, Array.from({ length: 200 }, () => 'l'))
    expect(colours.line('a', 0)).toBeUndefined()
    expect(colours.line('a', 199)).toEqual([{ text: 'l', light: '#000', dark: '#fff' }])
  })

  it('that come when the text is gone are dropped, and a worker that breaks leaves texts plain', () => {
    const { colours, workers } = open()
    colours.ask('a', 'a.ts', { from: 0, whole: ['x'], open: '' })
    colours.end('a')
    workers[0]!.answer('a', 0, ['x'])
    expect(colours.line('a', 0)).toBeUndefined()
    colours.ask('b', 'b.ts', { from: 0, whole: ['x'], open: '' })
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    workers[0]!.onerror?.({ message: 'no such module' })
    expect(said).toHaveBeenCalledWith('colours: no such module')
    said.mockRestore()
    expect(workers[0]!.ended).toBe(true)
    expect(colours.line('b', 0)).toBeUndefined()
  })

  it('are not asked of ever new workers when each of them breaks', () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const { colours, workers } = open()
    for (let line = 0; line < 50; line += 1) {
      colours.ask('a', 'a.ts', { from: line, whole: ['x'], open: '' })
      workers.at(-1)?.onerror?.({ message: 'broken' })
    }
    expect([workers.length, workers.every(({ ended }) => ended)]).toEqual([3, true])
    said.mockRestore()
  })
})
