import { createTwoFilesPatch } from 'diff'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDiff, showsWholeChange } from './shown-diff.ts'

/** As OpenCode shows a diff: what all lines share of their indentation is taken off. */
function shownAs(before: string, after: string): string {
  const lines = createTwoFilesPatch('/workspace/a', '/workspace/a', before, after).split('\n')
  const isContent = (line: string): boolean => /^[+ -]/.test(line) && !line.startsWith('---') && !line.startsWith('+++')
  const widths = lines.filter((line) => isContent(line) && line.slice(1).trim() !== '').map((line) => line.slice(1).length - line.slice(1).trimStart().length)
  const indent = widths.length === 0 ? 0 : Math.min(...widths)
  return lines.map((line) => (isContent(line) ? line.charAt(0) + line.slice(1 + indent) : line)).join('\n')
}

function shows(diff: string, before: string, after: string): boolean {
  const files = parseDiff(diff)
  const [file] = files ?? []
  return files?.length === 1 && file !== undefined && showsWholeChange(file, before, after)
}

const line = fc.oneof(fc.constantFrom('', '  ', 'a', '    b', '    if (x) {', '-- sql', '++ x', '@@ -1,1 +1,1 @@', '--- a', '\\ No newline at end of file', 'Index: x', '===', 'ü', '\tx'), fc.string({ maxLength: 6 }).map((text) => text.replace(/[\r\n]/g, '')))
const text = fc.tuple(fc.array(line, { maxLength: 14 }), fc.boolean()).map(([lines, ended]) => lines.length === 0 ? '' : lines.join('\n') + (ended ? '\n' : ''))
/** A text and one that came of it by a few changes, so that hunks are apart. */
const pair = fc.tuple(text, text, fc.array(line, { maxLength: 3 }), fc.nat(14), fc.nat(3), fc.boolean()).map(([before, other, put, at, cut, unlike]) => {
  if (unlike) return [before, other] as const
  const lines = before.split('\n')
  lines.splice(at % lines.length, cut, ...put)
  return [before, lines.join('\n')] as const
})

describe('a diff as OpenCode shows it', () => {
  it('shows the change that it was made of, whatever its lines look like', () => {
    fc.assert(fc.property(pair, ([before, after]) => { expect(shows(shownAs(before, after), before, after)).toBe(true) }), { numRuns: 2_000 })
  })

  it('shows no other change: not from another text, and not to one', () => {
    const other = fc.tuple(pair, text)
    fc.assert(fc.property(other, ([[before, after], third]) => {
      const shown = shownAs(before, after)
      // What is taken off as indentation is not in the diff any more: two changes may differ in that alone.
      const seen = (from: string, to: string): string => shownAs(from, to)
      if (third !== after && seen(before, third) !== shown) expect(shows(shown, before, third)).toBe(false)
      if (third !== before && seen(third, after) !== shown) expect(shows(shown, third, after)).toBe(false)
    }), { numRuns: 2_000 })
  })

  const before = `one\ntwo\nthree\nfour\nfive\nsix\n${'between\n'.repeat(9)}eleven\ntwelve\n`
  const after = before.replace('two', 'TWO').replace('eleven', 'ELEVEN')
  const whole = shownAs(before, after)

  it.each<[string, string]>([
    ['leaves a hunk out', whole.slice(0, whole.lastIndexOf('@@ -'))],
    ['shows a line that is not there', whole.replace('+TWO', '+two!')],
    ['hides an added line', whole.replace('+TWO\n', '').replace('+1,6', '+1,5')],
    ['shows another line as removed', whole.replace('-two', '-2')],
    ['shows another line around it', whole.replace(' three', ' 3')],
    ['names another place', whole.replace('@@ -1,', '@@ -2,')],
    ['counts other lines than it holds', whole.replace('@@ -1,6', '@@ -1,7')],
    ['is cut off', whole.slice(0, whole.indexOf('+TWO'))],
    ['holds a line without a sign', whole.replace(' three', 'three')],
    ['begins without its file', whole.slice(whole.indexOf('@@'))],
    ['has words around it', `See here:\n${whole}`],
  ])('shows nothing when it %s', (_what, diff) => {
    expect([diff === whole, shows(whole, before, after), shows(diff, before, after)]).toEqual([false, true, false])
  })

  it('tells a missing line end from a present one', () => {
    expect(shows(shownAs('a\n', 'a\nb'), 'a\n', 'a\nb\n')).toBe(false)
    expect(shows(shownAs('a', 'a\n'), 'a', 'a\n')).toBe(true)
    expect(shows(shownAs('a', 'b'), 'a\n', 'b\n')).toBe(false)
  })

  it('does not tell line ends apart, of which OpenCode shows both alike', () => {
    expect(shows(shownAs('a\nb\n', 'a\nc\n'), 'a\r\nb\r\n', 'a\r\nc\r\n')).toBe(true)
  })

  it('lacks the same indentation in each line, and nothing but indentation', () => {
    expect(shows(shownAs('    a\n    b\n', '    a\n    c\n'), '    a\n    b\n', '    a\n    c\n')).toBe(true)
    expect(shows(' a\n-b\n+c\n'.replace(/^/, '--- x\n+++ x\n@@ -1,2 +1,2 @@\n'), '    a\n    b\n', '    a\n  c\n')).toBe(false)
    expect(shows('--- x\n+++ x\n@@ -0,0 +1,1 @@\n+b\n', '', '(){b\n')).toBe(false)
  })
})
