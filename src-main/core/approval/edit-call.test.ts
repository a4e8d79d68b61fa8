import { createTwoFilesPatch } from 'diff'
import { describe, expect, it } from 'vitest'
import { digestOf } from '../digest.ts'
import { compareEdit, editDigest, isEditTool, type FileBase } from './edit-call.ts'

const at = '/workspace/a.ts'
const diffOf = (before: string, after: string, path = at): string => createTwoFilesPatch(path, path, before, after)
const compare = (tool: string, input: unknown, diff: string, bases: readonly FileBase[] = [], paths: readonly string[] = [at]): string => compareEdit({ tool, input, bases }, paths.map((path) => ({ path, real: path })), diff).is
const base = (text: string | null, path = at): FileBase => ({ path, text })

describe('what a card shows of an edit', () => {
  it.each<[string, string, unknown, string | null, string, string]>([
    ['a file that is written anew', 'write', { filePath: at, content: 'a\nb\n' }, null, '', 'a\nb\n'],
    ['a file that is written over', 'write', { filePath: at, content: 'a\nB\n' }, 'a\nb\n', 'a\nb\n', 'a\nB\n'],
    ['a file that is named from the workspace on', 'write', { filePath: './x//../a.ts', content: 'B' }, 'b', 'b', 'B'],
    ['a file with a byte order mark', 'write', { filePath: at, content: 'B' }, '\uFEFFb', 'b', 'B'],
    ['a text that stands once', 'edit', { filePath: at, oldString: 'two', newString: '$& 2' }, 'one two three', 'one two three', 'one $& 2 three'],
    ['a text that is replaced everywhere', 'edit', { filePath: at, oldString: 'x', newString: 'y', replaceAll: true }, 'x x\nx\n', 'x x\nx\n', 'y y\ny\n'],
    ['a text in a file of other line ends', 'edit', { filePath: at, oldString: 'a\nb', newString: 'a\nc' }, 'a\r\nb\r\n', 'a\nb\n', 'a\nc\n'],
    ['an edit that makes a file', 'edit', { filePath: at, oldString: '', newString: 'new\n' }, null, '', 'new\n'],
  ])('is worked out a second time for %s, and has to be that', (_what, tool, input, text, before, after) => {
    expect(compare(tool, input, diffOf(before, after), [base(text)])).toBe('derived')
    expect(compare(tool, input, diffOf(before, `${after}evil`), [base(text)])).toBe('differs')
    expect(compare(tool, input, diffOf(`${before}evil`, after), [base(text)])).toBe('differs')
    for (const diff of ['', 'words']) expect(compare(tool, input, diff, [base(text)]), diff).toBe('differs')
    expect(compare(tool, input, diffOf(before, after, '/workspace/b.ts'), [base(text)])).toBe('differs')
    expect(compare(tool, input, diffOf(before, after) + diffOf('', 'more', '/workspace/b.ts'), [base(text)])).toBe('differs')
  })

  it.each(['/workspace/ä.ts', '/workspace/"a".ts', '/workspace/a\\b'])('names the very file also where the diff writes its name in quotes: %s', (path) => {
    const of = (named: string): string => compare('write', { filePath: path, content: 'b' }, diffOf('', 'b', named), [base(null, path)], [path])
    expect(diffOf('', 'b', path)).toContain('+++ "')
    expect([of(path), of('/workspace/ö.ts'), of(at)]).toEqual(['derived', 'differs', 'differs'])
  })

  it('may be of a name that ends in a quote and is written as it is', () => {
    const path = '/workspace/b"'
    expect(compare('write', { filePath: path, content: 'b' }, diffOf('', 'b').replaceAll(at, path), [base(null, path)], [path])).toBe('derived')
  })

  it('takes a byte order mark for no indentation', () => {
    expect(compare('write', { filePath: at, content: '  a\n  c\n' }, diffOf('a\nb\n', 'a\nc\n'), [base('\uFEFF  a\n  b\n')])).toBe('derived')
  })

  it('is nothing where its diff writes a name in quotes that cannot be read', () => {
    expect(compare('write', { filePath: at, content: 'b' }, diffOf('', 'b').replaceAll(at, `"${at}`), [base(null)])).toBe('differs')
  })

  it.each<[string, unknown, readonly FileBase[]]>([
    ['a file that could not be read', { filePath: at, oldString: 'a', newString: 'b' }, []],
    ['a text that is not there to the letter', { filePath: at, oldString: ' a', newString: 'b' }, [base('a')]],
    ['a text that stands twice', { filePath: at, oldString: 'a', newString: 'b' }, [base('a a')]],
    ['a sign that replacing everywhere gives a meaning', { filePath: at, oldString: 'a', newString: '$&', replaceAll: true }, [base('a a')]],
    ['a file of mixed line ends', { filePath: at, oldString: 'a', newString: 'b' }, [base('a\r\n\n')]],
    ['a file that is gone', { filePath: at, oldString: 'a', newString: 'b' }, [base(null)]],
    ['a file that is there when it is to be made', { filePath: at, oldString: '', newString: 'b' }, [base('a')]],
  ])('binds the call alone where nothing can be worked out: %s', (_what, input, bases) => {
    expect(compare('edit', input, 'anything', bases)).toBe('bound')
  })

  it('is compared by the room\'s names where the call has the workspace elsewhere, and takes nothing beside it for a part of it', () => {
    const workspace = '/Users/o/a b/ws'
    const written = (filePath: string, named = filePath, shown = at): string => compareEdit({ tool: 'write', input: { filePath, content: 'B' }, bases: [base('b', shown)], workspace }, [{ path: shown, real: shown }], diffOf('b', 'B', named)).is
    expect(['/Users/o/a b/ws/a.ts', 'a.ts', '/Users/o/a b/ws/../ws/a.ts'].map((path) => written(path, '/Users/o/a b/ws/a.ts'))).toEqual(['derived', 'derived', 'derived'])
    expect(written('a.ts', at), 'a diff of another file').toBe('differs')
    expect(['/workspace/a.ts', '/Users/o/a b/ws2/a.ts', '../a.ts'].map((path) => written(path))).toEqual(['differs', 'differs', 'differs'])
    const moved = { tool: 'apply_patch', input: { patchText: '*** Begin Patch\n*** Update File: a.ts\n*** Move to: b.ts\n@@\n-a\n+b\n*** End Patch' }, bases: [base('a\n')], workspace }
    expect(compareEdit(moved, [at, '/workspace/b.ts'].map((path) => ({ path, real: path })), diffOf('a\n', 'b\n', '/Users/o/a b/ws/a.ts')).is).toBe('derived')
  })

  it.each<[string, string, unknown, readonly string[]]>([
    ['names another file', 'write', { filePath: '/workspace/b.ts', content: '' }, [at]],
    ['names more files than are shown', 'apply_patch', { patchText: '*** Begin Patch\n*** Add File: a.ts\n+a\n*** Add File: b.ts\n+b\n*** End Patch' }, [at]],
    ['names fewer files than are shown', 'write', { filePath: at, content: '' }, [at, '/workspace/b.ts']],
    ['moves a file to where no card says', 'apply_patch', { patchText: '*** Begin Patch\n*** Update File: a.ts\n*** Move to: b.ts\n@@\n-a\n+b\n*** End Patch' }, [at]],
    ['names a file whose folder and name run together', 'write', { filePath: '/workspace/ab.ts', content: '' }, ['/workspace/a/b.ts']],
    ['names no file', 'write', { content: '' }, [at]],
    ['names an empty file where the workspace itself is shown', 'write', { filePath: '', content: '' }, ['/workspace']],
    ['names an empty file', 'write', { filePath: '', content: '' }, [at]],
    ['lacks its text', 'write', { filePath: at }, [at]],
    ['lacks one of its texts', 'edit', { filePath: at, oldString: '' }, [at]],
    ['lacks the other one', 'edit', { filePath: at, newString: '' }, [at]],
    ['is of a tool that nobody knows', 'edit_tomorrow', { filePath: at, oldString: 'a', newString: 'b' }, [at]],
    ['is no object', 'write', 'text', [at]],
    ['is nothing', 'write', null, [at]],
    ['is no patch', 'apply_patch', { patchText: 'text' }, [at]],
    ['is an empty patch', 'apply_patch', { patchText: '*** Begin Patch\n*** End Patch' }, []],
    ['has no patch', 'apply_patch', {}, [at]],
  ])('is not what its call %s', (_what, tool, input, paths) => {
    for (const diff of ['x', '']) expect(compare(tool, input, diff, [], paths), diff).toBe('differs')
  })
})

describe('an edit that differs from its call', () => {
  it.each<[string, unknown, string, string]>([
    ['of whose files its call says nothing', { content: '' }, 'x', 'its call does not say which files it changes'], ['of another file than its call', { filePath: '/workspace/b.ts', content: '' }, 'x', 'its call names other files'],
    ['of another change than its call', { filePath: at, content: 'b' }, diffOf('a', 'c'), 'what it shows is not what its call would do to the file as it is now'],
  ])('%s is told with the reason', (_what, input, diff, why) => {
    expect(compareEdit({ tool: 'write', input, bases: [base('a')] }, [{ path: at, real: at }], diff)).toEqual({ is: 'differs', why })
  })
})

describe('a patch of several files', () => {
  const b = '/workspace/src/b.ts'
  const patchText = ['*** Begin Patch', '*** Add File: a.ts', '+new', '+', '+end', `*** Update File: ${b}`, '@@ function f', '-one', '+ONE', ' two', '@@', '-four', '*** Delete File: c.ts', '*** End Patch'].join('\n')
  const bText = 'one\nfunction f\none\ntwo\nthree\nfour\n'
  const bases = [base(null), base(bText, b), base('gone\n', '/workspace/c.ts')]
  const diff = [diffOf('', 'new\n\nend\n'), diffOf(bText, 'one\nfunction f\nONE\ntwo\nthree\n', b), diffOf('gone\n', '', '/workspace/c.ts')]
  const paths = [at, b, '/workspace/c.ts']

  it('is worked out file by file', () => {
    expect(compare('apply_patch', { patchText }, diff.join('\n'), bases, paths)).toBe('derived')
    expect(compare('apply_patch', { patchText: `cat <<'EOF'\n${patchText}\nEOF` }, diff.join('\n'), bases, paths)).toBe('derived')
  })

  it.each([0, 1, 2])('has to be shown whole: without its file %d it is not', (left) => {
    expect(compare('apply_patch', { patchText }, diff.filter((_each, index) => index !== left).join('\n'), bases, paths)).toBe('differs')
  })

  it.each([0, 1, 2])('has to be shown right in each of its files: wrong in file %d it is not', (wrong) => {
    expect(compare('apply_patch', { patchText }, diff.map((each, index) => (index === wrong ? each.replace(/^([+-])(?=[a-z])/m, '$1x') : each)).join('\n'), bases, paths)).toBe('differs')
  })

  it('is bound by its call alone where one of its files cannot be told', () => {
    expect(compare('apply_patch', { patchText }, diff.join('\n'), bases.slice(0, 2), paths)).toBe('bound')
    expect(compare('apply_patch', { patchText }, diff.join('\n'), [base(null), base(null, b), base('gone\n', '/workspace/c.ts')], paths)).toBe('bound')
  })

  it('that makes a file where there is one has to show what it takes away', () => {
    const adds = '*** Begin Patch\n*** Add File: a.ts\n+new\n*** End Patch'
    expect(compare('apply_patch', { patchText: adds }, diffOf('', 'new\n'), [base('old\n')])).toBe('differs')
    expect(compare('apply_patch', { patchText: adds }, diffOf('', 'new\n'), [base(null)])).toBe('derived')
  })

  it.each<[string, readonly string[]]>([
    ['a line that is not there to the letter', ['@@', '-One', '+1']],
    ['a place that is not there', ['@@ nowhere', '-one', '+1']],
    ['lines at the end of the file', ['@@', '-four', '+4', '*** End of File']],
    ['lines that stand nowhere', ['@@', '+4']],
    ['a line without a sign', ['@@', '-one', 'x', '+1']],
    ['lines before the first place', ['-one', '+1']],
    ['lines in another order', ['@@', '-four', '+4', '@@', '-two', '+2']],
  ])('binds the call alone where OpenCode reads it leniently: %s', (_what, chunk) => {
    expect(compare('apply_patch', { patchText: ['*** Begin Patch', `*** Update File: ${b}`, ...chunk, '*** End Patch'].join('\n') }, 'x', [base(bText, b)], [b])).toBe('bound')
  })

  it('binds the call alone where one file is changed twice', () => {
    expect(compare('apply_patch', { patchText: '*** Begin Patch\n*** Add File: a.ts\n+a\n*** Add File: a.ts\n+b\n*** End Patch' }, 'x', [base(null)])).toBe('bound')
  })

  it('shows where a file is moved to', () => {
    const moved = ['*** Begin Patch', `*** Update File: ${b}`, '*** Move to: c.ts', '@@', '-four', '+4', '*** End Patch'].join('\n')
    expect(compare('apply_patch', { patchText: moved }, diffOf(bText, bText.replace('four', '4'), b), [base(bText, b)], [b, '/workspace/c.ts'])).toBe('derived')
  })
})

describe('what is bound of an edit', () => {
  const input = { filePath: at, oldString: 'a', newString: 'b' }

  it('is every member of its input, in whatever order they come', () => {
    const bound = editDigest('edit', input)
    expect(bound).toBe(digestOf({ is: 'edit', tool: 'edit', input }))
    expect(editDigest('edit', { newString: 'b', oldString: 'a', filePath: at })).toBe(bound)
    const others: readonly (readonly [string, unknown])[] = [['write', input], ['edit', { ...input, newString: 'b ' }], ['edit', { ...input, oldString: '' }], ['edit', { ...input, filePath: `${at}x` }], ['edit', { ...input, replaceAll: true }], ['edit', {}], ['edit', null]]
    expect(new Set([bound, ...others.map(([tool, other]) => editDigest(tool, other))]).size).toBe(others.length + 1)
  })

  it('is nothing where the input has no one form', () => {
    expect([editDigest('write', { content: '\ud800' }), editDigest('write', { content: Number.NaN })]).toEqual([null, null])
  })

  it('is looked at for each tool that changes files by itself', () => {
    expect(['write', 'edit', 'apply_patch', 'patch', 'multiedit', 'bash', 'read', 'glob'].map(isEditTool)).toEqual([true, true, true, true, true, false, false, false])
  })
})
