import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePatch, patched, type PatchChange, type PatchChunk } from './patch-text.ts'

const patch = (...lines: readonly string[]): string => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')
const update = (...lines: readonly string[]): readonly PatchChange[] | null => parsePatch(patch('*** Update File: a.ts', ...lines))
const updated = (chunks: readonly PatchChunk[] | null, movedTo: string | null = null): readonly PatchChange[] => [{ is: 'update', path: 'a.ts', movedTo, chunks }]
const chunk = (before: readonly string[], after: readonly string[], context: string | null = null): PatchChunk => ({ context, before, after })

describe('a patch', () => {
  it('is read change by change, in its order', () => {
    expect(parsePatch(patch('*** Add File: new.ts', '+one', '+two', '*** Delete File: old.ts', '*** Update File: a.ts', '*** Move to: b.ts', '@@ function f', ' same', '-gone', '+come', '@@', '-x', '*** Update File: c.ts', '@@', '+y'))).toEqual([
      { is: 'add', path: 'new.ts', content: 'one\ntwo\n' },
      { is: 'delete', path: 'old.ts' },
      { is: 'update', path: 'a.ts', movedTo: 'b.ts', chunks: [chunk(['same', 'gone'], ['same', 'come'], 'function f'), chunk(['x'], [])] },
      { is: 'update', path: 'c.ts', movedTo: null, chunks: [chunk([], ['y'])] },
    ])
  })

  it('is what stands between its marks, whatever is around them', () => {
    const read = [{ is: 'delete', path: 'a.ts' }]
    expect(parsePatch(`  \n\n words\n${patch('*** Delete File: a.ts')}\nmore words\n*** Delete File: b.ts\n`)).toEqual(read)
    expect(parsePatch(`*** Delete File: b.ts\n${patch('*** Delete File: a.ts')}`)).toEqual(read)
    expect(parsePatch(' *** Begin Patch \n*** Delete File: a.ts\n*** End Patch  ')).toEqual(read)
    expect(parsePatch('words\n\t*** Begin Patch\n*** Delete File: a.ts\n*** End Patch')).toEqual(read)
  })

  it('may stand in a here-document, of whatever word and quotes', () => {
    const read = [{ is: 'add', path: 'a.ts', content: 'x\n' }]
    const text = patch('*** Add File: a.ts', '+x')
    for (const wrapped of [`cat <<'EOF'\n${text}\nEOF`, `cat <<EOF\n${text}\nEOF\n`, `<<"PATCH"\n${text}\nPATCH  `, `cat  <<'EOF'  \n${text}\nEOF`]) expect(parsePatch(wrapped), wrapped).toEqual(read)
  })

  it.each<[string, string]>([
    ['text', 'words'], ['nothing', ''], ['a begin without an end', '*** Begin Patch\n*** Delete File: a.ts'], ['an end without a begin', '*** Delete File: a.ts\n*** End Patch'], ['an end before its begin', '*** End Patch\n*** Delete File: a.ts\n*** Begin Patch'],
    ['one whose last change has no end that begins its line', '*** Begin Patch\n*** Delete File: a.ts\n  *** End Patch'],
  ])('is not %s', (_what, text) => { expect(parsePatch(text)).toBe(null) })

  it('of no change has none', () => { expect(parsePatch(patch())).toEqual([]) })

  it('names its files without the blanks around them, and a mark without a name is none', () => {
    expect(parsePatch(patch('*** Delete File:   a b.ts  '))).toEqual([{ is: 'delete', path: 'a b.ts' }])
    expect(parsePatch(patch('*** Delete File:  ', '*** Add File:', '+x', '*** Delete File: b.ts'))).toEqual([{ is: 'delete', path: 'b.ts' }])
  })

  it('takes a mark only where it begins a line', () => {
    expect(parsePatch(patch('*** Add File: a.ts', '+*** Delete File: b.ts', ' *** Delete File: c.ts', 'x *** Delete File: d.ts'))).toEqual([{ is: 'add', path: 'a.ts', content: '*** Delete File: b.ts\n' }])
    expect(parsePatch(patch('x *** Delete File: d.ts'))).toEqual([])
  })

  it('ends a change at any line that begins as a mark does', () => {
    expect(parsePatch(patch('*** Add File: a.ts', '+one', '*** Nonsense', '+two', '*** Delete File: b.ts'))).toEqual([{ is: 'add', path: 'a.ts', content: 'one\n' }, { is: 'delete', path: 'b.ts' }])
  })
})

describe('a file that a patch adds', () => {
  const content = (...lines: readonly string[]): unknown => parsePatch(patch('*** Add File: a.ts', ...lines))?.[0]

  it.each<[string, readonly string[], string]>([
    ['ends with a line end', ['+a'], 'a\n'], ['ends with just one, where its last line is empty', ['+a', '+'], 'a\n'], ['keeps empty lines', ['+a', '+', '+b'], 'a\n\nb\n'], ['is empty without lines', [], ''],
    ['is empty of one empty line', ['+'], ''], ['has no lines but those with a plus', ['+a', 'b', ' c', '-d', '+e'], 'a\ne\n'], ['keeps each character after the plus', ['+ +a '], ' +a \n'],
  ])('%s', (_what, lines, expected) => { expect(content(...lines)).toEqual({ is: 'add', path: 'a.ts', content: expected }) })
})

describe('an update', () => {
  it('has a place for each @@, with what it says there', () => {
    expect(update('@@   class A  ', '-a', '+b', '@@', ' c')).toEqual(updated([chunk(['a'], ['b'], 'class A'), chunk(['c'], ['c'])]))
  })

  it('without a place has none', () => { expect(update()).toEqual(updated([])) })

  it.each<[string, readonly string[]]>([
    ['lines before the first place', ['-a', '@@', '+b']], ['a line without a sign', ['@@', '-a', 'b']], ['a line whose sign stands later', ['@@', '-a', 'b - c']], ['an empty line', ['@@', '-a', '', '+b']], ['a place at the end of the file', ['@@', '-a', '+b', '*** End of File']], ['a place at the end of the file, with blanks behind', ['@@', '-a', '+b', '*** End of File  ']],
    ['a move that is not named first', ['@@', '-a', '*** Move to: b.ts']],
  ])('is not followed with %s', (_what, lines) => { expect(update(...lines)).toEqual(updated(null)) })

  it('takes the sign of a line off, and nothing else of it', () => {
    expect(update('@@', '--- x', '+++ y', '  z', '-@@', '+*** End Patch of another')).toEqual(updated([chunk(['-- x', ' z', '@@'], ['++ y', ' z', '*** End Patch of another'])]))
  })

  it('says where its file is moved to, without the blanks around it; to nowhere is no move', () => {
    expect(update('*** Move to:  sub/b.ts ', '@@', '-a')).toEqual(updated([chunk(['a'], [])], 'sub/b.ts'))
    expect(update('*** Move to:  ', '@@', '-a')).toEqual(updated([chunk(['a'], [])]))
    expect(update('*** Move to: b.ts')).toEqual(updated([], 'b.ts'))
    expect(update('*** Move to: b.ts', '@@', '-a', '*** End of File')).toEqual(updated(null, 'b.ts'))
  })
})

describe('what a file becomes', () => {
  const base = 'f\na\nb\ng\na\nb\nc\n'

  it.each<[string, string, readonly PatchChunk[], string | null]>([
    ['with no change is the file', base, [], base],
    ['changes where its lines first stand', base, [chunk(['a', 'b'], ['A', 'B'])], 'f\nA\nB\ng\na\nb\nc\n'],
    ['changes after the place that is named', base, [chunk(['a'], ['A'], 'g')], 'f\na\nb\ng\nA\nb\nc\n'],
    ['does not change the named place itself', base, [chunk(['g'], ['G'], 'g')], null],
    ['is not told when the place is not there', base, [chunk(['a'], ['A'], 'nowhere')], null],
    ['is not told when the place is only a part of a line', 'gg\na\n', [chunk(['a'], ['A'], 'g')], null],
    ['is not told when its lines do not stand together', base, [chunk(['a', 'c'], ['A'])], null],
    ['is not told when its lines go on behind the end', base, [chunk(['c', ''], ['A'])], null],
    ['is not told when a change names no lines', base, [chunk([], ['A'])], null],
    ['is not told when a place is named without lines', base, [chunk([], ['A'], 'g')], null],
    ['takes each change after the one before', base, [chunk(['a'], ['1']), chunk(['a'], ['2'])], 'f\n1\nb\ng\n2\nb\nc\n'],
    ['looks for a place only after the change before', base, [chunk(['c'], ['C']), chunk(['b'], ['B'], 'g')], null],
    ['is not told when changes come in another order', base, [chunk(['c'], ['C']), chunk(['f'], ['F'])], null],
    ['may lose its first lines', base, [chunk(['f', 'a'], [])], 'b\ng\na\nb\nc\n'],
    ['may change its last line', base, [chunk(['c'], ['C', 'D'])], 'f\na\nb\ng\na\nb\nC\nD\n'],
    ['gets a line end at its end', 'a\nb', [chunk(['b'], ['c'])], 'a\nc\n'],
    ['keeps empty lines at its end, of which the last is its line end', 'a\n\n', [chunk(['a'], ['b'])], 'b\n'],
    ['keeps its line end where its second line is empty', 'a\n\nb\n', [chunk(['a'], ['x'])], 'x\n\nb\n'],
    ['is empty when all lines go', 'a\n', [chunk(['a'], [])], ''],
    ['may be made from nothing by nothing', '', [], ''],
  ])('%s', (_what, text, chunks, expected) => { expect(patched(text, chunks)).toBe(expected) })

  // Lines that all differ, so that each stands in one place: then any change of some of them can be told.
  const lines = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 5 }).filter((line) => !line.includes('\n')), { minLength: 1, maxLength: 12 })
  const cuts = fc.array(fc.record({ skip: fc.nat(3), take: fc.integer({ min: 1, max: 3 }), put: fc.array(fc.constantFrom('x1', 'y2', 'z3', '-'), { maxLength: 3 }) }), { maxLength: 4 })

  it('is each named run of lines replaced, and all else as it was', () => {
    fc.assert(fc.property(lines, cuts, (all, wanted) => {
      const [chunks, expected]: [PatchChunk[], string[]] = [[], []]
      let at = 0
      for (const { skip, take, put } of wanted) {
        const before = all.slice(at + skip, at + skip + take)
        if (before.length === 0) break
        expected.push(...all.slice(at, at + skip), ...put)
        chunks.push(chunk(before, put))
        at += skip + before.length
      }
      expected.push(...all.slice(at))
      expect(patched(`${all.join('\n')}\n`, chunks)).toBe(expected.length === 0 ? '' : `${expected.join('\n')}\n`)
    }))
  })
})
