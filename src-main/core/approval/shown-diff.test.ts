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
    expect(shows(shownAs('\n', '\n    b\n'), '\n', '\n    b\n')).toBe(true)
    expect(shows('--- x\n+++ x\n@@ -1,2 +1,2 @@\n+\n-a\n   c\n', '    a\n      c\n', '\n      c\n')).toBe(true)
    for (const added of ['++ x', '    b+++', '    b---']) expect(shows(shownAs('    a\n', `    a\n${added}\n`), '    a\n', `    a\n${added}\n`), added).toBe(true)
  })

  it.each(['', ' ', '   x'])('shows nothing beyond the end of either text: %j', (more) => {
    const diff = (lines: number, rest: string): string => `--- x\n+++ x\n@@ -1,${String(lines)} +1,${String(lines)} @@\n a\n-b\n+c\n${rest}`
    expect([shows(diff(2, ''), 'a\nb\n', 'a\nc\n'), shows(diff(3, ` ${more}\n`), 'a\nb\n', 'a\nc\n')]).toEqual([true, false])
  })
})

describe('a diff is read', () => {
  const head = 'Index: a\n===\n--- a\told\n+++ b\tnew\n'

  it('file by file, by the name of what becomes of it, with the places of its hunks counted from zero', () => {
    expect(parseDiff(`${head}@@ -2,2 +3,1 @@ f()\n a\n-b\n@@ -9 +9 @@\n-c\n+d\n\nIndex: x\n=====\n--- x\n+++ x\n@@ -0,0 +1,1 @@\n+e\n\\ No newline at end of file\n`)).toEqual([
      { path: 'b', hunks: [{ oldAt: 1, newAt: 2, lines: [' a', '-b'] }, { oldAt: 8, newAt: 8, lines: ['-c', '+d'] }] }, { path: 'x', hunks: [{ oldAt: 0, newAt: 0, lines: ['+e\n'] }] },
    ])
  })

  it('with a side of no lines named by the line before it', () => {
    expect(parseDiff(`${head}@@ -3,0 +4,1 @@\n+a\n`)?.[0]?.hunks).toEqual([{ oldAt: 3, newAt: 3, lines: ['+a'] }])
    expect(parseDiff(`${head}@@ -4,1 +3,0 @@\n-a\n`)?.[0]?.hunks).toEqual([{ oldAt: 3, newAt: 3, lines: ['-a'] }])
  })

  it('with content that looks like structure as content, for as long as a hunk counts it', () => {
    expect(parseDiff(`${head}@@ -1,2 +1,2 @@\n--- x\n-@@ -1 +1 @@\n+++ y\n+\n`)?.[0]?.hunks).toEqual([{ oldAt: 0, newAt: 0, lines: ['--- x', '-@@ -1 +1 @@', '+++ y', '+'] }])
  })

  it('as nothing where there is nothing', () => { expect([parseDiff(''), parseDiff('\n\n'), parseDiff(head)]).toEqual([[], [], [{ path: 'b', hunks: [] }]]) })

  it.each<[string, string]>([
    ['a hunk before its file', '@@ -1 +1 @@\n-a\n+b\n'], ['words', 'x\n'], ['a line that only ends in a line', 'x=\n'], ['a line that only begins with one', '=x\n'], ['a name that is not followed by the other', '--- a\n'], ['a name that nothing follows', '--- a'], ['a name without its blank', '---a\n+++b\n'], ['an index without its blank', 'Index:a\n'],
    ['a hunk without places', `${head}@@ -a +b @@\n`], ['words before a hunk\'s places', `${head}x @@ -1 +1 @@\n-a\n+b\n`], ['a hunk whose places are not closed', `${head}@@ -1 +1\n-a\n+b\n`], ['a hunk that ends too soon', `${head}@@ -1,2 +1,1 @@\n-a\n`], ['a hunk that has too many lines taken away', `${head}@@ -1,1 +1,2 @@\n-a\n-b\n+c\n+d\n`],
    ['a hunk that has too many lines added', `${head}@@ -1,2 +1,1 @@\n+c\n+d\n-a\n-b\n`], ['a hunk with an empty line for an empty one', `${head}@@ -1,2 +1,2 @@\n a\n\n`], ['a missing line end before any line', `${head}@@ -1 +1 @@\n\\ No newline at end of file\n-a\n+b\n`], ['a hunk that the end of the text cuts off', `${head}@@ -1,2 +1,2 @@\n a`], ['a hunk whose last line taken away is cut off', `${head}@@ -1,2 +1,1 @@\n-a\n+b`], ['a hunk whose last added line is cut off', `${head}@@ -1,1 +1,2 @@\n-a\n+b`],
    ['a hunk with a line whose sign stands later', `${head}@@ -1,2 +1,2 @@\n a\nb c\n`], ['lines that no hunk counts', `${head}@@ -1 +1 @@\n-a\n+b\n c\n`],
  ])('never with %s', (_what, text) => { expect(parseDiff(text)).toBe(null) })
})

describe('a diff shows a whole change only', () => {
  const hunk = (oldAt: number, newAt: number, ...lines: readonly string[]): { readonly oldAt: number; readonly newAt: number; readonly lines: readonly string[] } => ({ oldAt, newAt, lines })
  const whole = (before: string, after: string, ...hunks: readonly ReturnType<typeof hunk>[]): boolean => showsWholeChange({ path: 'a', hunks }, before, after)

  it.each<[string, boolean, string, string, readonly ReturnType<typeof hunk>[]]>([
    ['of nothing is nothing', true, 'a\n', 'a\n', []], ['of something is not nothing', false, 'a\n', 'b\n', []], ['of a file that is longer is not nothing', false, 'a\n', 'a\nb\n', []], ['of a file that is shorter is not nothing', false, 'a\nb\n', 'a\n', []],
    ['may begin later in the file', true, 'a\nb\nc\n', 'a\nB\nc\n', [hunk(1, 1, '-b', '+B')]], ['where what comes before is the same', false, 'a\nb\nc\n', 'A\nB\nc\n', [hunk(1, 1, '-b', '+B')]], ['where what comes after is the same', false, 'a\nb\nc\n', 'a\nB\nC\n', [hunk(1, 1, '-b', '+B')]],
    ['in the order of its places', false, 'a\nb\nc\n', 'A\nb\nC\n', [hunk(2, 2, '-c', '+C'), hunk(0, 0, '-a', '+A')]], ['with places that never go back', false, 'a\nb\n', 'A\nB\n', [hunk(0, 0, '-a', '+A'), hunk(0, 0, '-b', '+B')]], ['with both of its places moved alike', false, 'a\nb\n', 'a\nB\n', [hunk(1, 0, '-b', '+B')]], ['with places inside the file', false, 'a\n', 'a\nb\n', [hunk(5, 5, '+b')]], ['with places inside the file, also of no lines', false, 'a\n', 'a\n', [hunk(2, 2)]],
    ['of a return within a line is not nothing', false, 'a\rb\n', 'ab\n', []], ['of a last line that ends in a return alone', true, 'a\r', 'b\r', [hunk(0, 0, '-a\r\n', '+b\r\n')]],
    ['of lines that are there', false, 'a\n', 'a\n', [hunk(1, 1, '-b')]], ['that shows what is added', false, 'a\n', 'a\nb\n', [hunk(1, 1, '+c')]], ['with what stays on both sides', false, 'a\nb\n', 'x\nB\n', [hunk(0, 0, ' a', '-b', '+B')]], ['with a line end where there is one', false, 'a\n', 'b', [hunk(0, 0, '-a', '+b')]],
    ['without one where there is none', true, 'a\n', 'b', [hunk(0, 0, '-a', '+b\n')]], ['from nothing', true, '', 'a\n', [hunk(0, 0, '+a')]], ['to nothing', true, 'a\n', '', [hunk(0, 0, '-a')]],
  ])('%s: %s', (_what, expected, before, after, hunks) => { expect(whole(before, after, ...hunks)).toBe(expected) })

  it.each<[string, boolean, string, string, readonly string[]]>([
    ['all lines lack the same', true, '  a\n    b\n', '  a\n    c\n', [' a', '-  b', '+  c']], ['one lacks more than another', false, '  a\n    b\n', '  a\n    c\n', [' a', '- b', '+  c']], ['one lacks less', false, '  a\n    b\n', '  a\n    c\n', [' a', '-   b', '+  c']],
    ['a line of blanks is shorter than what all lack', true, '    a\n  \n', '    b\n  \n', ['-a', '+b', ' ']], ['a line of blanks that ends before the others begin lost all of it', true, '    a\n  \n', '    b\n  \n', ['-a', '+b', ' ']], ['a line of blanks kept what the others lack', false, '    a\n    \n', '    b\n    \n', ['-a', '+b', '     ']], ['a line of blanks lost more than the others', false, '  a\n      \n', '  b\n      \n', ['-a', '+b', ' ']], ['a line of blanks lost the same', true, '  a\n    \n', '  b\n    \n', ['-a', '+b', '   ']], ['the first line of blanks lost more than the others', false, '    \n  a\n', '    \n  b\n', [' ', '-a', '+b']], ['the first line of blanks lost the same', true, '    \n  a\n', '    \n  b\n', ['   ', '-a', '+b']], ['lines of nothing but blanks lost some', false, '  \n', '  \n  \n', [' ', '+']], ['lines of nothing but blanks lost none', true, '  \n', '  \n  \n', ['   ', '+  ']],
    ['one line is shown whole, so that it seems to stand elsewhere', false, '    if a:\n    b\n', '    if a:\n    c\n', [' if a:', '-    b', '+    c']], ['a line that looks like a name is left whole', true, '-- a\n  b\n', '  c\n  b\n', ['--- a', '+c', ' b']], ['a line that looks like a name lacks as much as the others', false, '-- a\n  b\n', '  c\n  b\n', ['- a', '+c', ' b']], ['a line looks like a name only once it lacks some', true, '  -- a\n  b\n', '  c\n  b\n', ['--- a', '+c', ' b']],
    ['more is shown than is there', false, 'a\n', 'b\n', ['-  a', '+  b']], ['letters are lacking', false, 'xa\n', 'xb\n', ['-a', '+b']], ['tabs are lacking', true, '\ta\n', '\tb\n', ['-a', '+b']],
  ])('where %s of the indentation: %s', (_what, expected, before, after, lines) => { expect(whole(before, after, hunk(0, 0, ...lines))).toBe(expected) })
})
